import { cpSync, writeFileSync } from "node:fs"
import { resolve } from "node:path"

import { defineConfig, type OutputOptions } from "rolldown"

const here = import.meta.dirname

export const output: OutputOptions = {
  dir: "dist",
  // Node loads CommonJS about ten milliseconds faster than ES modules.
  format: "cjs",
  sourcemap: true,
  cleanDir: true,
  // Functions keep their names, for stack traces.
  minify: { compress: true, mangle: { toplevel: true, keepNames: true }, codegen: true },
  // One file has exactly what every host needs, because each further file makes a start about a millisecond slower. A
  // second one has what only MCP needs; sharing a file with the HTTP server would make `haft mcp` load that too. A third
  // one has the file tools, which would otherwise be eleven files that most calls load.
  codeSplitting: {
    groups: [
      { name: "base", test: /packages\/haft\/src\/promise\.ts$|effect\/dist\/FiberSet\.js$/, priority: 2 },
      { name: "mcp", test: /apps\/cli\/src\/speak-mcp\.ts$/, priority: 1 },
      { name: "files", test: /packages\/fs-tools\/src\/(?!media\/)/, priority: 1 }
    ]
  },
  entryFileNames: "[name].js",
  chunkFileNames: "chunk-[name].js"
}

export default defineConfig({
  // Web pages are parsed in a worker thread, and the host of a branch is a process of its own: each needs a file beside
  // the bundle.
  input: {
    bin: "src/bin.ts",
    "page-worker": "../../packages/web-tools/src/readable-page/page-worker.ts",
    "branch-host-process": "../../packages/haft/src/branches/branch-host-process.ts"
  },
  platform: "node",
  // The oldest Node that the packages name has no `using` yet.
  transform: { target: "node22.19" },
  // It has native code, so it stays a dependency of the published package.
  external: ["@lydell/node-pty"],
  plugins: [
    {
      // `pg` requires `pg-pool` and extends what it gets: the class of the CommonJS file, not the namespace of the other.
      name: "pg-pool-by-require",
      resolveId: async function (source, importer) {
        if (source !== "pg-pool") return undefined
        const found = await this.resolve(source, importer, { skipSelf: true })
        return found && { ...found, id: found.id.replace(/esm[\\/]index\.mjs$/, "index.js") }
      }
    },
    {
      name: "files-beside",
      writeBundle: ({ dir = "dist" }) => {
        // `haft plugin new` reads the templates at run time.
        cpSync(resolve(here, "../../packages/haft/templates"), resolve(here, dir, "templates"), { recursive: true })
        writeFileSync(resolve(here, dir, "package.json"), '{ "type": "commonjs" }\n')
      }
    }
  ],
  // The eval that rolldown would warn about is in a parser of style sheets that haft never calls.
  checks: { eval: false, emptyImportMeta: false },
  resolve: { conditionNames: ["@haft/source", "node", "import"] },
  output
})
