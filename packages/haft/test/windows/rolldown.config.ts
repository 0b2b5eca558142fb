/** Bundles of the programs in this directory, for runtimes that have neither pnpm's links nor the sources' conditions. */
export default {
  input: {
    apps: "apps.ts",
    cases: "cases.ts",
    checks: "checks.ts",
    // Web pages are parsed in a worker thread, which needs a file of its own.
    "page-worker": "../../../web-tools/src/readable-page/page-worker.ts"
  },
  cwd: import.meta.dirname,
  platform: "node",
  transform: { target: "node22.19" },
  external: ["@lydell/node-pty", "@vscode/tree-sitter-wasm"],
  checks: { eval: false, emptyImportMeta: false },
  resolve: { conditionNames: ["@haft/source", "node", "import"] },
  output: { dir: process.env["HAFT_BUNDLE"] ?? "", format: "esm", entryFileNames: "[name].js" }
}
