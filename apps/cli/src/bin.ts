#!/usr/bin/env node
import manifest from "haft/package.json" with { type: "json" }

// The program itself is imported in here and not at the top: `--version` does not need it, and the compile cache must
// be on before it is loaded.
const run = async (): Promise<void> => {
  process.getBuiltinModule("node:module").enableCompileCache(compileCache())
  // zod would compile each schema on its first use, which pays only for many uses. Servers turn that on again.
  Object.assign(globalThis, { __zod_globalConfig: { jitless: true } })
  const { explain, main } = await import("./main.ts")
  // A rejected promise that a plugin did not handle is reported, but does not end the program and the calls of others.
  process.on("unhandledRejection", explain)
  process.on("uncaughtException", (cause) => process.exit(explain(cause)))
  process.exitCode = await main(process.argv.slice(2), manifest.version)
  // Once all output is written the program exits, and does not wait for what a plugin left running.
  const leave = (): void => {
    if (process.stdout.writableLength === 0 && process.stderr.writableLength === 0) process.exit()
  }
  leave()
  setInterval(leave, 20)
}

// Compiled code is run as it is found. Node's own choice, the temporary directory, may be one that a sandbox can write.
const compileCache = (): string => {
  const path = process.getBuiltinModule("node:path")
  const { XDG_CACHE_HOME: given = "" } = process.env
  const home = path.isAbsolute(given) ? given : path.join(process.getBuiltinModule("node:os").homedir(), ".cache")
  return path.join(home, "haft", "compile-cache")
}

if (process.argv[2] === "--version") {
  process.stdout.write(`${manifest.version}\n`)
} else if (process.getBuiltinModule?.("node:module").enableCompileCache === undefined) {
  // Only a Node that is too old has no compile cache: say so, before the program fails with an obscure message.
  process.stderr.write(
    `haft: Node ${process.versions.node} is too old; haft needs ${manifest.engines.node}\n` +
      "  Install a newer one. In a checkout of haft, npm start brings its own.\n"
  )
  process.exitCode = 2
} else {
  void run()
}
