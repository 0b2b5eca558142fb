import { basename } from "node:path"

import { agentbench, toolrouter } from "@haft/dialects"

import type { Contender, Group } from "../benchmark.ts"
import { treesOf } from "../corpora/trees.ts"
import { expectAlike, expectText } from "../expect.ts"
import { contenderOf, startServers } from "../mcp/servers.ts"
import { outputOf, ripgrep } from "../ripgrep.ts"
import { openSearchHost } from "../search-host.ts"

/**
 * Searches text in a tree. The floor is `rg -c`, which only counts, in no order. haft counts, sorts, and returns up to
 * 1,000 lines with two lines around each; or, without counting, the first 200 in order.
 */
export const benchmarks: Group = async function* (setting) {
  for (const { root, size, patterns } of treesOf(setting)) {
    const counting = await openSearchHost(agentbench, root)
    const first = await openSearchHost(toolrouter, root)
    const jobs = [
      { name: "nothing matches", pattern: "no_such_text_anywhere" },
      { name: "a rare text", pattern: patterns.rare },
      { name: "an expression", pattern: patterns.expression },
      { name: "a common word", pattern: patterns.common }
    ]
    for (const { name, pattern } of jobs) {
      // The goal is for large trees: in a small one, the fixed cost of a call is most of the time.
      const isLarge = size.value > 50_000
      const isCommon = pattern === patterns.common
      const check = expectAlike((answer) =>
        typeof answer === "string"
          ? countIn(answer)
          : (answer as { data: { total_matches: number } }).data.total_matches
      )
      const floor: Omit<Contender, "name"> = {
        kind: "limit",
        run: () => ripgrep(root, "--count", "--ignore-case", "-e", pattern, "."),
        check
      }
      yield {
        group: "search",
        name,
        size,
        floor: "rg -c",
        ifMissed: "Its matches lie in many files, and each of them is opened again, contained, for the lines around.",
        contenders: [
          { name: "rg -c", ...floor },
          // The same again: how far its ratio is from 1 shows how exact the other ratios are.
          { name: "rg -c, again", ...floor },
          {
            name: "grep -rciE",
            kind: "peer",
            run: () => outputOf("grep", ["-rciE", "-I", "-e", pattern, "."], root),
            check
          },
          {
            name: "haft, exact total, 1,000 with context",
            kind: "haft",
            ...(isLarge && { atMost: 1.2 }),
            run: () => counting.call("search", { query: pattern, is_regex: true, max_results: 1000, context_lines: 2 }),
            check
          },
          {
            name: "haft, first 200",
            kind: "haft",
            ...(isLarge && isCommon && { atMost: 0.5 }),
            run: () => first.call("grep_files", { pattern: `(?i)${pattern}`, limit: 200 }),
            check: (answer) => expectText(isCommon ? "line_num" : "results")(JSON.stringify(answer))
          }
        ]
      }
    }
    await counting.dispose()
    await first.dispose()

    const [file = ""] = (await ripgrep(root, "--files-with-matches", "-e", patterns.rare, "."))
      .split("\n")
      .toSorted()
      .slice(1)
    const { running, absent, close } = await startServers(setting, root, "search")
    yield {
      group: "search",
      name: "over MCP, a rare text",
      size,
      floor: "haft",
      absent,
      contenders: running.map(({ server, client }) =>
        contenderOf(server, {
          run: () => server.search?.(client, root, patterns.rare),
          check: expectText(basename(file))
        })
      )
    }
    await close()
  }
}

const countIn = (output: string): number =>
  output.split("\n").reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(":") + 1)), 0)
