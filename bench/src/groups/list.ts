import { mkdirSync } from "node:fs"
import { join } from "node:path"

import { agentbench } from "@haft/dialects"

import type { Group } from "../benchmark.ts"
import { filesOf, treesOf } from "../corpora/trees.ts"
import { expectSame } from "../expect.ts"
import { openFileHost } from "../file-host.ts"
import { ripgrep } from "../ripgrep.ts"

/** Lists the first 1,000 files of a tree in order. Reading the whole tree for that costs as much as the whole tree. */
export const benchmarks: Group = async function* (setting) {
  const state = join(setting.home, "list-state")
  mkdirSync(state, { recursive: true })
  for (const { root, size } of treesOf(setting)) {
    const host = await openFileHost(agentbench, { root, state })
    const expected = filesOf(root).slice(0, 1000).join("\n")
    const check = (answer: unknown): void => expectSame(expected)((answer as ReadonlyArray<string>).join("\n"))
    yield {
      group: "list",
      name: "first 1,000 files in order",
      size,
      floor: "rg --files, sorted",
      contenders: [
        {
          name: "rg --files, sorted",
          kind: "limit",
          run: async () => {
            const output = await ripgrep(root, "--files", "--no-ignore", ".")
            const files = output.split("\n").slice(0, -1)
            return files
              .map((file) => file.slice(2))
              .toSorted()
              .slice(0, 1000)
          },
          check
        },
        { name: "find, sorted", kind: "peer", run: () => filesOf(root).slice(0, 1000), check },
        {
          name: "haft",
          kind: "haft",
          // The goal is for trees of which 1,000 files are a small part.
          ...(size.value > 50_000 && { atMost: 0.05 }),
          run: async () => ((await host.call("list_files", {})) as { data: { files: Array<string> } }).data.files,
          check
        }
      ],
      close: host.dispose
    }
  }
}
