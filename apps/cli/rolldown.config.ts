import { defineConfig } from "rolldown"

export default defineConfig({
  input: { bin: "src/bin.ts" },
  platform: "node",
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
