import { execFile } from "node:child_process"
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"

import type { Contender, Group } from "../benchmark.ts"
import { expectText } from "../expect.ts"
import { haftCli } from "../haft-cli.ts"

/** The built command, from its start to its answer. The floor is node with an empty program. */
export const benchmarks: Group = async function* () {
  const directory = mkdtempSync(join(tmpdir(), "haft-start-"))
  const [root, state] = [join(directory, "root"), join(directory, "state")]
  mkdirSync(root)
  writeFileSync(join(root, "a.txt"), "hello\n")
  const haft = (
    name: string,
    args: ReadonlyArray<string>,
    expected: string,
    { atMost }: { readonly atMost: number }
  ): Contender => ({
    name,
    kind: "haft",
    atMost,
    run: () => outputOf([haftCli, ...args]),
    check: expectText(expected)
  })
  const there = ["--workspace", root, "--state", state]
  yield {
    group: "start",
    name: "a process of its own",
    floor: "node",
    ifMissed:
      "A call loads Effect, zod, one tool package and the host around it, and node:crypto for the hashes of its record, about 65 ms of code that runs for the first time. Its profile has no part left that a read can do without; docs/decisions has what each costs.",
    contenders: [
      {
        name: "node",
        kind: "limit",
        run: () => outputOf(["-e", "console.log(0)"]),
        check: expectText("0")
      },
      haft("haft --version", ["--version"], ".", { atMost: 1.3 }),
      haft("haft call read_file", ["call", "read_file", "path=a.txt", ...there], "hello", { atMost: 3 })
    ],
    close: () => rmSync(directory, { recursive: true, force: true })
  }
}

const outputOf = (args: ReadonlyArray<string>): Promise<string> =>
  new Promise((resolve, reject) => {
    const child = execFile(process.execPath, [...args], (error, stdout) =>
      error === null ? resolve(stdout) : reject(error)
    )
    child.stdin?.end()
  })
