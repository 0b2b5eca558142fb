import { execFileSync } from "node:child_process"
import { mkdirSync, readdirSync } from "node:fs"
import { join } from "node:path"

import { agentbench } from "@haft/dialects"
import { installedRipgrep } from "@haft/search-tools"
import * as Effect from "effect/Effect"

import type { Group } from "../benchmark.ts"
import { sourceTree } from "../corpora/source-tree.ts"
import { openFileHost } from "../file-host.ts"

/** The first 1,000 files of a tree in order. Whoever reads all of it first pays for all of it. */
export const benchmarks: Group = async function* (setting) {
  const root = sourceTree(setting.home, setting)
  const state = join(setting.home, "list-state")
  mkdirSync(state, { recursive: true })
  const rg = Effect.runSync(installedRipgrep)
  const host = await openFileHost(agentbench, { root, state })
  const check = (answer: unknown): void => {
    const { length } = answer as ReadonlyArray<string>
    if (length !== 1000) throw new Error(`${length} files, not 1,000`)
  }
  yield {
    group: "list",
    name: "first 1,000 files in order",
    floor: "rg --files, sorted",
    contenders: [
      {
        name: "rg --files, sorted",
        kind: "limit",
        run: () => {
          const args = ["--no-config", "--files", "--hidden", "--no-ignore", "."]
          const files = execFileSync(rg, args, { cwd: root, maxBuffer: 2 ** 30, encoding: "utf8" }).split("\n")
          return files.slice(0, -1).toSorted().slice(0, 1000)
        },
        check
      },
      {
        name: "readdir, recursive, sorted",
        kind: "peer",
        run: () =>
          readdirSync(root, { recursive: true, withFileTypes: true })
            .filter((entry) => entry.isFile())
            .map((entry) => join(entry.parentPath, entry.name))
            .toSorted()
            .slice(0, 1000),
        check
      },
      {
        name: "haft",
        kind: "haft",
        atMost: 0.05,
        run: async () => ((await host.call("list_files", {})) as { data: { files: Array<string> } }).data.files,
        check
      }
    ],
    close: host.dispose
  }
}
