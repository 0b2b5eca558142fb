import { execFile } from "node:child_process"
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"

import type { Contender, Group } from "../benchmark.ts"

const bin = join(import.meta.dirname, "../../../apps/cli/dist/bin.js")

const initialize = {
  jsonrpc: "2.0",
  id: 1,
  method: "initialize",
  params: { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "bench", version: "1.0.0" } }
}
const conversation = [
  initialize,
  { jsonrpc: "2.0", method: "notifications/initialized" },
  { jsonrpc: "2.0", id: 2, method: "tools/list" }
]

/** From nothing to an answer, as the built command gives it: `npm run build` first. Bare node is the floor. */
export const benchmarks: Group = async function* ({ quick }) {
  const directory = mkdtempSync(join(tmpdir(), "haft-start-"))
  const [root, state] = [join(directory, "root"), join(directory, "state")]
  mkdirSync(root)
  writeFileSync(join(root, "a.txt"), "hello\n")
  const haft = (name: string, args: ReadonlyArray<string>, expected: string, stdin = ""): Contender => ({
    name,
    kind: "haft",
    run: () => outputOf([bin, ...args], stdin),
    check: (answer) => expectText(answer, expected)
  })
  const there = ["--workspace", root, "--state", state]
  yield {
    group: "start",
    name: "a process of its own",
    floor: "node",
    goal: { contender: "haft call read_file", atMost: 3 },
    rounds: quick ? 5 : 21,
    runsPerRound: 1,
    contenders: [
      {
        name: "node",
        kind: "limit",
        run: () => outputOf(["-e", "console.log(0)"]),
        check: (answer) => expectText(answer, "0")
      },
      haft("haft --version", ["--version"], "."),
      haft("haft call read_file", ["call", "read_file", "path=a.txt", ...there], "hello"),
      haft(
        "haft mcp, to the list of tools",
        ["mcp", ...there],
        "read_file",
        conversation.map((message) => `${JSON.stringify(message)}\n`).join("")
      )
    ],
    close: () => rmSync(directory, { recursive: true, force: true })
  }
}

const outputOf = (args: ReadonlyArray<string>, stdin = ""): Promise<string> =>
  new Promise((resolve, reject) => {
    const child = execFile(process.execPath, [...args], (error, stdout) =>
      error === null ? resolve(stdout) : reject(error)
    )
    child.stdin?.end(stdin)
  })

const expectText = (answer: unknown, expected: string): void => {
  if (!String(answer).includes(expected)) throw new Error(`wrong answer: ${String(answer).slice(0, 200)}`)
}
