#!/usr/bin/env node
import manifest from "haft/package.json" with { type: "json" }

// Nothing heavier is imported here: the version is answered at once, and the compile cache
// is on before the program itself is loaded.
const run = async (): Promise<void> => {
  process.getBuiltinModule("node:module").enableCompileCache()
  // zod compiles a schema when it is first used, which takes longer than what few uses save. Servers turn it on again.
  Object.assign(globalThis, { __zod_globalConfig: { jitless: true } })
  const { explain, main } = await import("./main.ts")
  // A promise that a plugin forgot must not end the calls of others.
  process.on("unhandledRejection", explain)
  process.on("uncaughtException", (cause) => process.exit(explain(cause)))
  process.exitCode = await main(process.argv.slice(2), manifest.version)
  // Once all is said, nothing is waited for: not what a plugin left running, and not the engine's own tidying up.
  const leave = (): void => {
    if (process.stdout.writableLength === 0 && process.stderr.writableLength === 0) process.exit()
  }
  leave()
  setInterval(leave, 20)
}

if (process.argv[2] === "--version") {
  process.stdout.write(`${manifest.version}\n`)
} else if (process.getBuiltinModule?.("node:module").enableCompileCache === undefined) {
  // Node 22 has it, and what is imported above needs Node 22 too: say so, before it fails in a riddle.
  process.stderr.write(
    `haft: Node ${process.versions.node} is too old; haft needs ${manifest.engines.node}\n` +
      "  Install a newer one. In a checkout of haft, npm start brings its own.\n"
  )
  process.exitCode = 2
} else {
  void run()
}
