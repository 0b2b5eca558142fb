import type { KnipConfig } from "knip"

export default {
  // Each package can test Effects, whether or not one of its tests does today. A package that is a program is looked
  // for at run time, from wherever the code was bundled to.
  ignoreDependencies: ["@effect/vitest", "@vscode/ripgrep", "@vscode/tree-sitter-wasm"],
  // Programs of the system that tests and benchmarks start, and one of a package that is not the root.
  ignoreBinaries: [
    "openssl",
    "ip",
    "apt-get",
    "dpkg-deb",
    "eleventy",
    "ip",
    "mkfifo",
    "mount",
    "perl",
    "setpriv",
    "prlimit",
    "shellcheck",
    "umount",
    "unshare"
  ],
  // A tool package's plugin has a name, for programs, and is the default export, for configurations.
  rules: { duplicates: "off" },
  ignoreExportsUsedInFile: { interface: true, type: true },
  workspaces: {
    ".": {
      entry: ["scripts/*.{ts,mjs}"],
      // Names the plugin inside @effect/tsgo; there is no package to install.
      ignoreDependencies: ["@effect/language-service"]
    },
    // Loaded by their paths: plugins, and a program that a test starts.
    "packages/haft": { entry: ["test/fixtures/*.mjs", "test/*.ts", "test/windows/*.ts"] },
    // The package has no types of its own; only the compiler looks for these.
    "packages/web-tools": { ignoreDependencies: ["@types/http-cache-semantics"] },
    // Programs that tests start, bundled or as they are.
    "packages/node": { entry: ["test/*-child.ts"] },
    "packages/fs-tools": { entry: ["test/*.ts"] },
    "packages/search-tools": { entry: ["test/*-child.ts"] },
    "examples/*": { entry: ["src/*.ts"] },
    // What the snippets of the docs import is found from here.
    "examples/basics": { entry: ["src/*.ts"], ignoreDependencies: [/^@haft\//] },
    // The generator reads its configuration itself.
    site: { entry: ["eleventy.config.mjs"], eleventy: false },
    bench: {
      entry: [
        "src/main.ts",
        "src/measure-group.ts",
        "src/orphans.ts",
        "src/robustness/main.ts",
        "src/code-search/*.ts",
        "src/redaction/main.ts",
        "src/reference-losses/main.ts",
        "src/groups/*.ts",
        "src/http/serve.ts",
        "src/mcp/bare-server.ts"
      ]
    },
    stress: {
      entry: [
        "src/main.ts",
        "src/run-attack.ts",
        "src/doomed-host.ts",
        "src/serve-apart.ts",
        "src/cluster-member.ts",
        "src/attacks/*.ts"
      ]
    }
  }
} satisfies KnipConfig
