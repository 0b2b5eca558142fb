import { openHost, type OpenHost } from "@haft/core/promise"
import { temporaryWorkspace, type TemporaryWorkspace } from "@haft/testing"
import * as fc from "fast-check"
import { type DialectName, dialectNames, openRules, standardHost } from "haft/internal"

import { type Attack, forSeconds, none } from "../attack.ts"

const secret = "KEY=hunter2-is-not-a-password"
const file = "vault/deep/.env"

/** Spellings of the file that rules deny, of links to it, and of directories above it. */
const spellings = (root: string): fc.Arbitrary<string> =>
  fc.oneof(
    fc.constantFrom(file, "vault/deep", "vault", ".", "", "link", "way/deep/.env", "way", `${root}/${file}`, root),
    fc
      .array(fc.constantFrom("./", "/", "x/../", "../deep/", "//"), { maxLength: 4 })
      .map((parts) => `vault/deep/${parts.join("")}.env`),
    fc.constantFrom("VAULT/deep/.env", "vault/deep/.ENV", "vault\\deep\\.env", "vault/deep/.env/", "vault/*/.env")
  )

/** Commands that print or change the file, naming it, hiding its name, or not naming it at all. */
const commands = (path: string): fc.Arbitrary<string> =>
  fc.constantFrom(
    `cat ${path}`,
    `cat '${path}'`,
    `true && cat ${path}`,
    `grep -r KEY ${path}`,
    `cat vault/deep/.e""nv`,
    "cat vault/deep/.e*",
    "cat $(find . -name .env)",
    "find . -name .env -exec cat {} +",
    "grep -r KEY .",
    "tar c vault | tar xO",
    `git diff --no-index /dev/null ${file}`,
    "cp -r vault copy && cat copy/deep/.env",
    "bash -c 'cat vault/deep/.[e]nv'",
    "sh < vault/deep/.env"
  )

const pathFields = new Set(["path", "from", "root", "base_path", "cwd", "workdir", "directory"])
const commandFields = new Set(["command", "cmd", "code"])

/** Arguments of a tool that are after the file, whatever the tool is called and whichever fields it has. */
const argumentsOf = (schema: unknown, root: string): fc.Arbitrary<Record<string, unknown>> => {
  const { properties = {} } = schema as { readonly properties?: Readonly<Record<string, unknown>> }
  return spellings(root).chain((path) =>
    fc.record(
      Object.fromEntries(
        Object.keys(properties).flatMap((name): Array<[string, fc.Arbitrary<unknown>]> => {
          if (pathFields.has(name)) return [[name, fc.constant(path)]]
          if (commandFields.has(name)) return [[name, commands(path)]]
          const known = others(path)[name]
          return known === undefined ? [] : [[name, known]]
        })
      )
    )
  )
}

const others = (path: string): Readonly<Record<string, fc.Arbitrary<unknown>>> => ({
  to: fc.constantFrom("moved", "moved/deep", "a.txt"),
  content: fc.constant("changed"),
  query: fc.constant("KEY"),
  pattern: fc.constantFrom("KEY", "**/*", "**/.env"),
  recursive: fc.boolean(),
  language: fc.constantFrom("bash", "python"),
  session_id: fc.uuid(),
  edits: fc.constant([{ find: "KEY", replace: "x" }]),
  patches: fc.constant([{ find: "KEY", replace: "x" }]),
  old_string: fc.constant("KEY"),
  new_string: fc.constant("x"),
  unified_diff: fc.constantFrom(changing(path), copying(path)),
  patch: fc.constantFrom(changing(path), copying(path))
})

const changing = (path: string) => `--- a/${path}\n+++ b/${path}\n@@ -1 +1 @@\n-${secret}\n+x\n`
const copying = (path: string) =>
  `diff --git a/${path} b/copy\nsimilarity index 100%\ncopy from ${path}\ncopy to copy\n`

/** Tries to read or change a file that rules deny, with every tool of every dialect, on a host that approves the rest. */
export const attack: Attack = async function* ({ seconds, seed }) {
  const printed: Array<string> = []
  const changed: Array<string> = []
  let calls = 0
  for (const dialect of dialectNames) {
    const { host, workspace, close } = await open(dialect)
    const tools = host.tools.filter(({ openWorld }) => !openWorld)
    await forSeconds(seconds / dialectNames.length, async (round) => {
      const tool = tools[round % tools.length]
      if (tool === undefined) return
      const [args = {}] = fc.sample(argumentsOf(tool.inputSchema, workspace.root), { seed: seed + round, numRuns: 1 })
      const reply = await host.call(tool.name, args)
      calls += 1
      const attempt = `${dialect} ${tool.name} ${JSON.stringify(args)}`
      if (JSON.stringify(reply.wire).includes("hunter2")) printed.push(attempt)
      if (isChanged(workspace)) {
        changed.push(attempt)
        workspace.put(file, `${secret}\n`)
      }
    })
    await close()
  }
  yield none("denied files that a reply shows", `${calls} calls in ${dialectNames.length} dialects`, printed)
  yield none("denied files that a call changes", `${calls} calls in ${dialectNames.length} dialects`, changed)
}

const isChanged = (workspace: TemporaryWorkspace): boolean =>
  !workspace.exists(file) || workspace.read(file) !== `${secret}\n`

const open = async (
  dialect: DialectName
): Promise<{ host: OpenHost; workspace: TemporaryWorkspace; close: () => Promise<void> }> => {
  const workspace = temporaryWorkspace({
    "a.txt": "one\n",
    [file]: `${secret}\n`,
    link: { symlink: file },
    way: { symlink: "vault" }
  })
  const { root, state } = workspace
  const rules = await openRules({ root, state })
  await rules.add({ id: "reads", decision: "deny", touches: { reads: "**/.env" } })
  await rules.add({ id: "writes", decision: "deny", touches: { writes: "**/.env" } })
  const host = await openHost(standardHost({ root, state, dialect, approval: "all", sandbox: "none" }))
  return { host, workspace, close: () => host.dispose().finally(workspace.remove) }
}
