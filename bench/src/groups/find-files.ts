import { execFile } from "node:child_process"
import { promisify } from "node:util"

import { haft } from "@haft/dialects"
import { installedRipgrep } from "@haft/search-tools"
import * as Effect from "effect/Effect"

import type { Group } from "../benchmark.ts"
import { sourceTree } from "../corpora/source-tree.ts"
import { expectAlike } from "../expect.ts"
import { openHost } from "./search.ts"

const run = promisify(execFile)

/** Files by name in a tree of 80,000. The floor is `rg --files -g` and a sort; haft counts all and gives 1,000. */
export const benchmarks: Group = async function* (setting) {
  const root = sourceTree(setting.home, setting)
  const rg = Effect.runSync(installedRipgrep)
  for (const pattern of ["**/*.h", "**/*", "static_0/**/*.c"]) {
    const host = await openHost(haft, root)
    const check = expectAlike((answer) =>
      Array.isArray(answer) ? answer.length : (answer as { result: { total: number } }).result.total
    )
    yield {
      group: "find-files",
      name: `files that match ${pattern}`,
      floor: "rg --files -g, sorted",
      contenders: [
        {
          name: "rg --files -g, sorted",
          kind: "limit",
          run: async () => {
            const options = { cwd: root, maxBuffer: 2 ** 30 }
            const { stdout } = await run(rg, ["--no-config", "--files", "--hidden", `--glob=${pattern}`, "."], options)
            return stdout.split("\n").slice(0, -1).toSorted()
          },
          check
        },
        {
          name: "haft",
          kind: "haft",
          atMost: 1,
          run: () => host.call("find_files", { pattern }),
          check
        }
      ],
      close: host.dispose
    }
  }
}
