// Swaps a directory for a link that leads out, and back, as fast as it can, until it is killed.
import { renameSync } from "node:fs"

const [directory = ""] = process.argv.slice(2)
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
process.stdout.write("ready\n")
for (;;) {
  rename("inner", "aside")
  rename("link", "inner")
  rename("inner", "link")
  rename("aside", "inner")
}
