#!/usr/bin/env node
import { enableCompileCache } from "node:module"

import manifest from "haft/package.json" with { type: "json" }

// Nothing heavier is imported here: the version is answered at once, and the compile cache
// is on before the program itself is loaded.
if (process.argv[2] === "--version") {
  process.stdout.write(`${manifest.version}\n`)
} else {
  enableCompileCache()
  const { main } = await import("./main.ts")
  process.exitCode = await main(process.argv.slice(2), manifest.version)
}
