import { mkdirSync, mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"

import { dialectNames } from "haft"
import { openHost } from "haft/promise"

/** Prints the tools of a host without plugins, by dialect, for embedded-lists.ts. */
const directory = mkdtempSync(join(tmpdir(), "haft-tools-"))
const [root, state] = [join(directory, "root"), join(directory, "state")]
mkdirSync(root)
const printed: Record<string, string> = {}
for (const dialect of dialectNames) {
  await using host = await openHost({ root, state, dialect })
  printed[dialect] = JSON.stringify(host.tools)
}
rmSync(directory, { recursive: true })
process.stdout.write(JSON.stringify(printed))
