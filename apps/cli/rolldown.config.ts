import { cpSync, writeFileSync } from "node:fs"
import { resolve } from "node:path"

import { defineConfig, type OutputOptions } from "rolldown"

import { embeddedLists } from "./bundle/embedded-lists.ts"
import { embeddedSchemas } from "./bundle/embedded-schemas.ts"
import { inAscii } from "./bundle/in-ascii.ts"
import { lazySchemas } from "./bundle/lazy-schemas.ts"
import { leanBuiltins } from "./bundle/lean-builtins.ts"
import { namedInZod } from "./bundle/named-in-zod.ts"

const here = import.meta.dirname

export const output: OutputOptions = {
  dir: "dist",
  // Node takes about ten milliseconds less for modules of this kind.
  format: "cjs",
  sourcemap: true,
  cleanDir: true,
  // Functions keep their names: a trace has to say where.
  minify: { compress: true, mangle: { toplevel: true, keepNames: true }, codegen: true },
  // What every host needs lies in one file, and nothing else: each file more costs a start about a millisecond. What
  // MCP needs besides lies in another, or its server would wait for the one that speaks HTTP.
  codeSplitting: {
    groups: [
      { name: "base", test: /packages\/haft\/src\/promise\.ts$|effect\/dist\/FiberSet\.js$/, priority: 2 },
      { name: "mcp", test: /apps\/cli\/src\/speak-mcp\.ts$/, priority: 1 }
    ]
  },
  entryFileNames: "[name].js",
  chunkFileNames: "chunk-[name].js"
}

export default defineConfig({
  // Web pages are read in a thread, whose file has to lie beside the bundle.
  input: { bin: "src/bin.ts", "page-worker": "../../packages/web-tools/src/readable-page/page-worker.ts" },
  platform: "node",
  // Native code stays in its package, which the published `haft` depends on.
  external: ["@lydell/node-pty"],
  plugins: [
    leanBuiltins,
    embeddedLists(),
    embeddedSchemas(),
    lazySchemas,
    namedInZod,
    inAscii,
    {
      name: "files-beside",
      writeBundle: ({ dir = "dist" }) => {
        // What a new plugin is made from is read at run time.
        cpSync(resolve(here, "../../packages/haft/templates"), resolve(here, dir, "templates"), { recursive: true })
        writeFileSync(resolve(here, dir, "package.json"), '{ "type": "commonjs" }\n')
      }
    }
  ],
  // A parser of style sheets that nothing here reaches names an error class with eval.
  checks: { eval: false, emptyImportMeta: false },
  resolve: {
    conditionNames: ["@haft/source", "node", "import"],
    alias: { "@modelcontextprotocol/server/_shims": resolve(here, "bundle/mcp-shims.ts") }
  },
  output
})
