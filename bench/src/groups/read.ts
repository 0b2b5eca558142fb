import { execFileSync } from "node:child_process"
import { closeSync, mkdirSync, openSync, readFileSync, readSync, rmSync, statSync, writeSync } from "node:fs"
import { join } from "node:path"

import { agentbench } from "@haft/dialects"

import type { Group, Setting } from "../benchmark.ts"
import { expectSame } from "../expect.ts"
import { openFileHost } from "../file-host.ts"

/** Reads 100 lines near the end of a file, and counts all lines. The floor only reads the file, in chunks. */
export const benchmarks: Group = async function* (setting) {
  const directory = join(setting.home, "read")
  const [root, state] = [join(directory, "root"), join(directory, "state")]
  for (const made of [root, state]) mkdirSync(made, { recursive: true })
  const host = await openFileHost(agentbench, { root, state })
  for (const size of sizesOf(setting)) {
    const file = join(root, `${size.label}.txt`)
    const lines = Math.floor(size.value / lineOf(0).length)
    writeLines(file, lines)
    const [start, end] = [Math.max(1, Math.floor(lines * 0.9)), Math.min(lines, Math.floor(lines * 0.9) + 100)]
    const expected = Array.from({ length: end - start + 1 }, (_, at) => lineOf(start + at)).join("")
    const check = (answer: unknown): void => expectSame(expected.trimEnd())(String(answer).trimEnd())
    yield {
      group: "read",
      name: "a hundred lines near the end",
      size,
      floor: "read in pieces of 1 MiB",
      ifMissed:
        "The floor looks at nothing. haft looks at each byte three times: whether it is text, whether it is NUL, and whether it is a newline.",
      contenders: [
        {
          name: "read in pieces of 1 MiB",
          kind: "limit",
          run: () => readThrough(file),
          check: expectSame(statSync(file).size)
        },
        {
          name: "sed -n",
          kind: "peer",
          run: () => execFileSync("sed", ["-n", `${start},${end}p`, file], { encoding: "utf8" }),
          check
        },
        ...(size.value > 500e6
          ? []
          : [
              {
                name: "readFileSync and split",
                kind: "peer" as const,
                run: () =>
                  readFileSync(file, "utf8")
                    .split("\n")
                    .slice(start - 1, end)
                    .join("\n"),
                check
              }
            ]),
        {
          name: "haft",
          kind: "haft",
          ...(size.value > 50e6 && { atMost: 4 }),
          run: async () => {
            const reply = await host.call("read_file", { path: `${size.label}.txt`, start_line: start, end_line: end })
            return (reply as { data: { content: string } }).data.content
          },
          check
        }
      ]
    }
  }
  await host.dispose()
  rmSync(directory, { recursive: true })
}

const sizesOf = ({ quick }: Setting): ReadonlyArray<{ readonly value: number; readonly label: string }> => {
  const sizes = [
    { value: 1e3, label: "1 KB" },
    { value: 1e6, label: "1 MB" },
    { value: 61e6, label: "61 MB" },
    { value: 1e9, label: "1 GB" }
  ]
  return quick ? sizes.slice(1, 2) : sizes
}

const lineOf = (number: number): string =>
  `${String(number).padStart(9)} the quick brown fox jumps over the lazy dog 0123456\n`

const writeLines = (file: string, lines: number): void => {
  const descriptor = openSync(file, "w")
  for (let from = 1; from <= lines; from += 10_000) {
    const count = Math.min(10_000, lines - from + 1)
    writeSync(descriptor, Array.from({ length: count }, (_, at) => lineOf(from + at)).join(""))
  }
  closeSync(descriptor)
}

const piece = Buffer.alloc(2 ** 20)

const readThrough = (file: string): number => {
  const descriptor = openSync(file, "r")
  let total = 0
  for (let read = 1; read > 0; total += read) read = readSync(descriptor, piece)
  closeSync(descriptor)
  return total
}
