// Exchanges a directory for a link to another place and back, as fast as it can, until it is killed.
import { renameSync, symlinkSync } from "node:fs"

const [directory = "", outside = ""] = process.argv.slice(2)
symlinkSync(outside, `${directory}.link`)
process.stdout.write("ready\n")
for (;;) {
  renameSync(directory, `${directory}.away`)
  renameSync(`${directory}.link`, directory)
  renameSync(directory, `${directory}.link`)
  renameSync(`${directory}.away`, directory)
}
