import { execFileSync } from "node:child_process"
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"

import { filetools } from "@haft/dialects"

import type { Contender, Group } from "../benchmark.ts"
import { openFileHost } from "../file-host.ts"

/** Changes one line in a large file, and back. The floor reads the file, replaces the text and writes it in place. */
export const benchmarks: Group = async function* (setting) {
  const megabytes = setting.quick ? 5 : 50
  const directory = join(setting.home, "edit")
  rmSync(directory, { recursive: true, force: true })
  for (const name of ["root", "state"]) mkdirSync(join(directory, name), { recursive: true })
  const root = join(directory, "root")
  const line = "the quick brown fox jumps over the lazy dog 0123456789\n"
  const half = line.repeat(Math.ceil((megabytes * 2 ** 19) / line.length))
  const file = (name: string): string => join(root, name)
  for (const name of ["limit", "sed", "haft"]) writeFileSync(file(name), `${half}NEEDLE\n${half}`)
  const host = await openFileHost(filetools, { root, state: join(directory, "state") })
  const both = [
    ["NEEDLE", "THREAD"],
    ["THREAD", "NEEDLE"]
  ] as const
  const check = (name: string) => (): void => {
    if (!readFileSync(file(name), "utf8").includes("\nNEEDLE\n")) throw new Error(`${name} lost the line`)
  }
  const contender = (
    name: string,
    kind: Contender["kind"],
    edit: (find: string, replace: string) => unknown
  ): Contender => ({
    name,
    kind,
    run: async () => {
      for (const [find, replace] of both) await edit(find, replace)
    },
    check: check(name)
  })
  yield {
    group: "edit",
    name: `one line of ${megabytes} MB`,
    floor: "limit",
    contenders: [
      contender("limit", "limit", (find, replace) =>
        writeFileSync(
          file("limit"),
          readFileSync(file("limit"), "utf8").replace(find, () => replace)
        )
      ),
      contender("sed", "peer", (find, replace) => execFileSync("sed", ["-i", `s/${find}/${replace}/`, file("sed")])),
      contender("haft", "haft", async (find, replace) => {
        const reply = await host.call("file.patch", { path: "haft", patches: [{ find, replace }] })
        if (!(reply as { success?: boolean }).success) throw new Error(JSON.stringify(reply))
      })
    ],
    close: host.dispose
  }
}
