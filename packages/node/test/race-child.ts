// Swaps a directory for a link that leads out, and back, as fast as it can, until it is killed. DIRECTORY [LONGEST]
// With a longest rest, in milliseconds, it comes in bursts: between them a call has the time to be done.
import { renameSync } from "node:fs"

const [directory = "", longest = "0"] = process.argv.slice(2)
let junk = 0
const rename = (from: string, to: string): void => {
  try {
    renameSync(`${directory}/${from}`, `${directory}/${to}`)
  } catch {
    // The other side has made a directory of that name in the meantime.
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
// Short ones mostly, some of them too short to be any.
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
