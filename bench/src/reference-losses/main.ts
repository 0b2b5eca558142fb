// Runs reference implementations of file tools beside haft, and says what each keeps and loses.
// node --conditions=@haft/source bench/src/reference-losses/main.ts [--docs]
import { execFileSync } from "node:child_process"
import { mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { setTimeout as sleep } from "node:timers/promises"

import { type Contender, type Edit, edited, openContenders } from "./contenders.ts"

interface EditCase {
  readonly title: string
  readonly before: Uint8Array
  readonly edit: Edit
  /** What the file holds after the edit; undefined where it must be refused. */
  readonly after: Uint8Array | undefined
  /** What a wrong outcome is called. */
  readonly loss: string
}

const latin1 = (text: string): Uint8Array => Buffer.from(text, "latin1")

const cases: ReadonlyArray<EditCase> = [
  {
    title: "Latin-1: `one` becomes `two` in `café one`",
    before: latin1("caf\u00e9 one\n"),
    edit: { find: "one", replace: "two" },
    after: latin1("caf\u00e9 two\n"),
    loss: "lost: other bytes change"
  },
  {
    title: "Latin-1: a file with `é` as one byte, whole line replaced",
    before: latin1("caf\u00e9\nb\n"),
    edit: { find: "b", replace: "c" },
    after: latin1("caf\u00e9\nc\n"),
    loss: "lost: other bytes change"
  },
  {
    title: "CRLF: two lines replaced, given with line feeds",
    before: latin1("one\r\ntwo\r\nthree\r\n"),
    edit: { find: "one\ntwo", replace: "1\n2" },
    after: latin1("1\r\n2\r\nthree\r\n"),
    loss: "lost: line endings change"
  },
  {
    title: "CRLF: one line becomes two",
    before: latin1("one\r\ntwo\r\n"),
    edit: { find: "two", replace: "2\n3" },
    after: latin1("one\r\n2\r\n3\r\n"),
    loss: "lost: line endings mix or change"
  },
  {
    title: "ambiguity: the text stands at two places",
    before: latin1("a\nb\na\n"),
    edit: { find: "a", replace: "z" },
    after: undefined,
    loss: "lost: takes one of them"
  }
]

const outcomeOf = async (contender: Contender, { before, edit, after, loss }: EditCase): Promise<string> => {
  const result = await edited(contender, before, edit)
  if (result === undefined) return "–"
  const isUnchanged = Buffer.from(before).equals(result.bytes)
  if (after === undefined) return !result.ok && isUnchanged ? "refused" : loss
  if (Buffer.from(after).equals(result.bytes)) return "kept"
  return isUnchanged ? "refused" : loss
}

const seconds = 7919
const orphanCase = "orphan: `setsid sleep` in the background, then the tool is closed"

/** Processes of the case's command that are left, by their arguments. */
const left = (marker: string): ReadonlyArray<number> =>
  readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((pid) => commandOf(pid) === `sleep\0${marker}\0`)

const commandOf = (pid: number): string => {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, "utf8")
  } catch {
    return ""
  }
}

const orphanOutcome = async ({ runAndClose }: Contender, index: number): Promise<string> => {
  if (runAndClose === undefined || process.platform !== "linux") return "–"
  const marker = String(seconds + index)
  const root = realpathSync(mkdtempSync(join(tmpdir(), "haft-losses-")))
  try {
    await runAndClose(root, `setsid sleep ${marker} >/dev/null 2>&1 & sleep 0.3`)
    await sleep(1000)
    const pids = left(marker)
    for (const pid of pids) process.kill(pid, "SIGKILL")
    return pids.length === 0 ? "ended" : "lost: it runs on"
  } finally {
    rmSync(root, { recursive: true, force: true })
  }
}

const bench = dirname(dirname(import.meta.dirname))
const contenders = await openContenders(join(bench, ".home"))
const rows: Array<ReadonlyArray<string>> = []
for (const one of cases) {
  const outcomes: Array<string> = []
  for (const contender of contenders) outcomes.push(await outcomeOf(contender, one))
  rows.push([one.title, ...outcomes])
}
const orphans: Array<string> = []
for (const [index, contender] of contenders.entries()) orphans.push(await orphanOutcome(contender, index))
rows.push([orphanCase, ...orphans])
for (const { close } of contenders) await close?.()

const line = (cells: ReadonlyArray<string>): string => `| ${cells.join(" | ")} |`
const names = ["case", ...contenders.map(({ name }) => name)]
const table = [line(names), line(names.map(() => "---")), ...rows.map(line)].join("\n")
console.log(table)

if (process.argv.includes("--docs")) {
  const page = join(dirname(bench), "docs/kept-and-lost.md")
  const text = readFileSync(page, "utf8")
  const [start, end] = ["<!-- losses:start -->", "<!-- losses:end -->"]
  const [before, rest] = [text.slice(0, text.indexOf(start)), text.slice(text.indexOf(end))]
  writeFileSync(page, `${before}${start}\n\n${table}\n\n${rest}`)
  execFileSync("oxfmt", [page], { stdio: "inherit" })
}
