import { execFile } from "node:child_process"
import { promisify } from "node:util"

import { denyAll, type Dialect, Host, Journal, use } from "@haft/core"
import { agentbench, toolrouter } from "@haft/dialects"
import { nodeProcesses, nodeWorkspace } from "@haft/node"
import { installedRipgrep, searchTools } from "@haft/search-tools"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as ManagedRuntime from "effect/ManagedRuntime"

import type { Group } from "../benchmark.ts"
import { sourceTree } from "../corpora/source-tree.ts"

const patterns = [
  { name: "nothing matches", pattern: "no_such_text_anywhere" },
  { name: "a rare text", pattern: "rarely_seen_needle" },
  { name: "a regular expression", pattern: "mutex_[a-z]+_queue" },
  { name: "a common word", pattern: "struct" }
]

/**
 * Text in a tree of 80,000 files. The floor is `rg -c`: as fast as ripgrep counts, in no order, with nothing shown.
 * haft counts too, orders, and gives up to 1,000 lines with two lines around each; or the first 200 in order, uncounted.
 */
export const benchmarks: Group = async function* (setting) {
  const root = sourceTree(setting.home, setting)
  const rg = Effect.runSync(installedRipgrep)
  for (const { name, pattern } of patterns) {
    const counting = await openHost(agentbench, root)
    const first = await openHost(toolrouter, root)
    const isCommon = pattern === "struct"
    yield {
      group: "search",
      name,
      floor: "rg -c",
      contenders: [
        {
          name: "rg -c",
          kind: "limit",
          run: () => ripgrep(rg, root, ["--count", "--ignore-case", "--hidden", "-e", pattern, "."]),
          check: (answer) => expectMatches(countOf(String(answer)), pattern)
        },
        {
          name: "rg --json -C2 --sort=path -m5, not parsed",
          kind: "peer",
          run: () => ripgrep(rg, root, ["--json", "-C2", "--sort=path", "--ignore-case", "-m5", "-e", pattern, "."]),
          check: () => {}
        },
        {
          // A second turn of the floor: how far its ratio is from 1 is how far the others may be off.
          name: "rg -c, again",
          kind: "limit",
          run: () => ripgrep(rg, root, ["--count", "--ignore-case", "--hidden", "-e", pattern, "."]),
          check: (answer) => expectMatches(countOf(String(answer)), pattern)
        },
        {
          name: "haft, exact total, 1,000 with context",
          kind: "haft",
          atMost: 1.2,
          run: () => counting.call("search", { query: pattern, is_regex: true, max_results: 1000, context_lines: 2 }),
          check: (answer) => expectMatches((answer as { data: { total_matches: number } }).data.total_matches, pattern)
        },
        {
          name: "haft, first 200",
          kind: "haft",
          ...(isCommon && { atMost: 0.5 }),
          run: () => first.call("grep_files", { pattern: `(?i)${pattern}`, limit: 200 }),
          check: (answer) => {
            const { results } = answer as { results: Array<{ matches: Array<unknown> }> }
            const shown = results.reduce((sum, { matches }) => sum + matches.length, 0)
            if (isCommon && shown !== 200) throw new Error(`${shown} matches`)
          }
        }
      ],
      close: async () => {
        await counting.dispose()
        await first.dispose()
      }
    }
  }
}

// Keeps no event: what is measured is the search.
const forgetful = Layer.sync(Journal, () => {
  let step = 0
  return { run: "bench", nextStep: () => ++step, append: () => Effect.void, subscribe: () => () => {} }
})

/** A host with the search tools on a directory. */
export const openHost = async (dialect: Dialect, root: string) => {
  const services = Layer.mergeAll(nodeWorkspace({ root, state: `${root}-state` }), nodeProcesses, forgetful, denyAll)
  const runtime = ManagedRuntime.make(
    Host.layer({ dialect, plugins: [use(searchTools)] }).pipe(Layer.provide(services))
  )
  const host = await runtime.runPromise(Host.useSync((service) => service))
  return {
    dispose: () => runtime.dispose(),
    call: async (tool: string, params: unknown): Promise<unknown> => {
      const reply = await runtime.runPromise(host.call(tool, params))
      if (!reply.ok) throw new Error(reply.text)
      return reply.wire
    }
  }
}

const run = promisify(execFile)

/** ripgrep's output; nothing found is no error. */
const ripgrep = async (program: string, root: string, args: ReadonlyArray<string>): Promise<string> => {
  try {
    const { stdout } = await run(program, ["--no-config", ...args], { cwd: root, maxBuffer: 2 ** 30 })
    return stdout
  } catch (error) {
    if ((error as { code?: unknown }).code === 1) return ""
    throw error
  }
}

const countOf = (output: string): number =>
  output.split("\n").reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(":") + 1)), 0)

const counts = new Map<string, number>()
const expectMatches = (count: number, pattern: string): void => {
  const expected = counts.get(pattern) ?? count
  counts.set(pattern, expected)
  if (count !== expected) throw new Error(`${count} matches of ${pattern}, not ${expected}`)
}
