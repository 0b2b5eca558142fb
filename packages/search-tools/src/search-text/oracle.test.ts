import { expect, it } from "@effect/vitest"
import { type Dialect, Host } from "@haft/core"
import { agentbench, cliagent, filetools, haft, toolrouter } from "@haft/dialects"
import { temporaryWorkspace } from "@haft/testing"
import * as Effect from "effect/Effect"

import { hostOf } from "../../test/hosts.ts"
import { type NaiveMatch, searchNaively } from "../../test/naive-search.ts"
import { makeTree } from "../../test/random-tree.ts"
import { randomFrom } from "../../test/random.ts"

const trees = process.env["HAFT_LONG"] === "1" ? 60 : 5

const globs: ReadonlyArray<readonly [glob: string, accepts: (path: string) => boolean]> = [
  ["*", () => true],
  ["*.ts", (path) => path.endsWith(".ts")],
  ["**/*.ts", (path) => path.endsWith(".ts")],
  ["a/**", (path) => path.startsWith("a/")],
  ["a*/**/*.{ts,log}", (path) => /^a[^/]*\/.*\.(?:ts|log)$/u.test(path)],
  ["*/a*", (path) => /^[^/]*\/a[^/]*$/u.test(path)],
  ["/*", (path) => !path.includes("/")],
  ["!*.ts", (path) => path.split("/").every((name) => !name.endsWith(".ts"))],
  ["!a", (path) => !path.split("/").includes("a")],
  ["c:*", (path) => /(?:^|\/)c:[^/]*$/u.test(path)]
]

const queries: ReadonlyArray<readonly [query: string, isRegex: boolean]> = [
  ["hit", false],
  ["hit", true],
  ["^hit", true],
  ["hit$", true],
  ["^$", true],
  ["i(t|f)[ bü]", true],
  ["hitü", false],
  ["ü", true],
  ["h.*.$", true],
  ["[^a-z]hit", true],
  ["nothing of the kind", false]
]

it("finds what reading every file line by line finds, in every dialect", { timeout: 600_000 }, async () => {
  const random = randomFrom(4)
  let withResults = 0
  for (let tree = 0; tree < trees; tree++) {
    using workspace = temporaryWorkspace()
    const { root } = workspace
    const { all, visible } = makeTree(random, root)
    const directories = [...new Set(visible.filter((path) => path.includes("/")).map((path) => path.split("/", 1)[0]))]
    for (let round = 0; round < 8; round++) {
      const [query, isRegex] = random.oneOf(queries)
      const [glob, accepts] = random.oneOf(globs)
      const context = random.below(4)
      const most = random.oneOf([1, 3, 20, 1000])
      const path = random.oneOf([".", ".", ...directories]) ?? "."
      const below = path === "." ? "" : `${path}/`
      const fitting = (paths: ReadonlyArray<string>, start: string) =>
        paths.filter((one) => one.startsWith(start) && accepts(one.slice(start.length)))
      const search = (start: string, flags: string, paths = visible) =>
        searchNaively(root, fitting(paths, start), { expression: new RegExp(query, flags), context, most })
      const explained = (start: string, { ignored, globs }: Record<"ignored" | "globs", string>) => {
        const { total, files } = search(start, "u", all)
        if (total > 0)
          return [`${counted(total, "match")} in ${counted(files, "file")} that .gitignore leaves out. ${ignored}`]
        return fitting(all, start).length === 0 ? [`No file fits ${globs}.`] : []
      }
      const what = { tree, round, query, isRegex, glob, context, most, path }
      /** Output of a tool with its input, so that a difference can be traced. */
      const call = async (dialect: Dialect, tool: string, params: unknown) => {
        const called = Host.use((host) => host.call(tool, params, { requestId: "case" }))
        const reply = await Effect.runPromise(called.pipe(Effect.provide(hostOf(dialect, workspace)), Effect.scoped))
        return { what, wire: reply.wire }
      }
      const some = search(below, "u")
      const truncated = some.total > most
      if (some.total > 0) withResults++

      const shared = { path, context_lines: context, max_results: most }
      expect(await call(haft, "search_text", { query, literal: !isRegex, include: [glob], ...shared })).toMatchObject({
        what,
        wire: {
          result: {
            matches: some.shown.map(({ before, after, ...match }) => ({
              ...match,
              ...(context > 0 && { context_before: before, context_after: after })
            })),
            total_matches: some.total,
            files_with_matches: some.files,
            truncated,
            timed_out: false,
            remarks:
              some.total > 0 ? [] : explained(below, { ignored: "Set include_ignored to see them.", globs: "include" })
          }
        }
      })
      expect(await call(filetools, "file.search", { pattern: query, glob, ...shared })).toEqual({
        what,
        wire: { matches: some.shown.map((match) => withContext(match, context)), truncated }
      })
      const files = Map.groupBy(some.shown, (match) => match.path.slice(below.length))
      expect(await call(toolrouter, "grep_files", { pattern: query, path, include: [glob], limit: most })).toEqual({
        what,
        wire: {
          results: [...files].map(([file, matches]) => ({
            file,
            matches: matches.map(({ line, content }) => ({ line_num: line, line: content }))
          }))
        }
      })

      const caseless = search("", "iu")
      const { path: _, ...limits } = shared
      expect(await call(agentbench, "search", { query, is_regex: isRegex, glob, ...limits })).toMatchObject({
        what,
        wire: {
          data: {
            matches: caseless.shown.map(({ path: file, line, content, before, after }) => ({
              file,
              line,
              content,
              context_before: before,
              context_after: after
            })),
            truncated: caseless.total > most,
            total_matches: caseless.total
          }
        }
      })
      const everywhere = search("", "u")
      const params = { pattern: query, is_regex: isRegex, file_pattern: glob, max_results: most }
      const { wire } = await call(cliagent, "grep_search", params)
      const { output, metadata } = wire as { output: string; metadata: { total_matches: number } }
      const notes =
        everywhere.total > 0 ? [] : explained("", { ignored: "read_file reads them.", globs: "file_pattern" })
      expect({ what, total: metadata.total_matches, lines: output.match(/^(?: {2}|Note: ).*$/gmu) ?? [] }).toEqual({
        what,
        total: everywhere.total,
        lines: [
          ...everywhere.shown.map((match) => `  ${match.path}:${match.line}: ${match.content}`),
          ...notes.map((note) => `Note: ${note}`)
        ]
      })
    }
  }
  expect(withResults).toBeGreaterThan(trees)
})

const counted = (count: number, what: "match" | "file"): string =>
  count === 1 ? `1 ${what}` : `${count} ${what === "match" ? "matches" : "files"}`

const withContext = ({ path, line, content, before, after }: NaiveMatch, context: number) => {
  const around = [...before.map((text) => `    ${text}`), `--> ${content}`, ...after.map((text) => `    ${text}`)]
  return { path, line, content: context === 0 ? content : around.join("\n") }
}
