// race-child.ts DIRECTORY [LONGEST]: exchanges a directory for a link that leads outside, and back, as fast as it can,
// until it is killed. With LONGEST it rests between bursts, for at most so many milliseconds, so that calls can
// succeed.
import { renameSync } from "node:fs"

const [directory = "", longest = "0"] = process.argv.slice(2)
let junk = 0
const rename = (from: string, to: string): void => {
  try {
    renameSync(`${directory}/${from}`, `${directory}/${to}`)
  } catch {
    // A call has made a directory of that name in the meantime.
    renameSync(`${directory}/${to}`, `${directory}/junk${junk++}`)
    rename(from, to)
  }
}
const swap = (): void => {
  rename("inner", "aside")
  rename("link", "inner")
  rename("inner", "link")
  rename("aside", "inner")
}
// Most rests are short, many of them nearly nothing.
const rest = (): void => {
  const milliseconds = Number(longest) * Math.random() ** 4
  if (milliseconds > 0) Atomics.wait(still, 0, 0, milliseconds)
}
const still = new Int32Array(new SharedArrayBuffer(4))
process.stdout.write("ready\n")
for (;;) {
  for (let swaps = 10 ** (Math.random() * 3); swaps > 0; swaps--) swap()
  rest()
}
