import { basename } from "node:path"

import { haft } from "@haft/dialects"

import type { Group } from "../benchmark.ts"
import { filesOf, treesOf } from "../corpora/trees.ts"
import { expectAlike, expectText } from "../expect.ts"
import { contenderOf, startServers } from "../mcp/servers.ts"
import { ripgrep } from "../ripgrep.ts"
import { openSearchHost } from "../search-host.ts"

/** Finds files by name. The floor is `rg --files -g` and a sort; haft also counts all, and returns the first 1,000. */
export const benchmarks: Group = async function* (setting) {
  for (const { root, size } of treesOf(setting)) {
    const host = await openSearchHost(haft, root)
    for (const pattern of ["**/*.h", "**/*"]) {
      const check = expectAlike((answer) =>
        Array.isArray(answer) ? answer.length : (answer as { result: { total: number } }).result.total
      )
      // The goal is for large trees: in a small one, the fixed cost of a call is most of the time.
      const goal = size.value > 50_000 ? { atMost: 1 } : {}
      // No --glob for everything: it would override the ignore files.
      const glob = pattern === "**/*" ? [] : [`--glob=${pattern}`]
      yield {
        group: "find-files",
        name: `files that match ${pattern}`,
        size,
        floor: "rg --files -g, sorted",
        ifMissed:
          "ripgrep walks on all cores, haft on one. Nearly all of its time is opening and reading directories, each by the descriptor of the one above it so that no link is followed; a bare walk by readdir, without that, is at about 0.5.",
        contenders: [
          {
            name: "rg --files -g, sorted",
            kind: "limit",
            run: async () => {
              const output = await ripgrep(root, "--files", ...glob, ".")
              return output.split("\n").slice(0, -1).toSorted()
            },
            check
          },
          { name: "haft", kind: "haft", ...goal, run: () => host.call("find_files", { pattern }), check }
        ]
      }
    }
    await host.dispose()

    const name = basename(filesOf(root).at(-1) ?? "")
    const { running, absent, close } = await startServers(setting, root, "find")
    yield {
      group: "find-files",
      name: "over MCP, one name anywhere",
      size,
      floor: "haft",
      absent,
      contenders: running.map(({ server, client }) =>
        contenderOf(server, {
          run: () => server.find?.(client, root, name),
          check: expectText(`/${name}`)
        })
      )
    }
    await close()
  }
}
