import { defineConfig } from "rolldown"

export default defineConfig({
  input: { bin: "src/bin.ts" },
  platform: "node",
  // Native code stays in its package, which the published `haft` depends on.
  external: ["@lydell/node-pty"],
  resolve: { conditionNames: ["@haft/source", "node", "import"] },
  output: {
    dir: "dist",
    format: "esm",
    sourcemap: true,
    cleanDir: true,
    entryFileNames: "[name].js",
    chunkFileNames: "chunk-[name].js"
  }
})
