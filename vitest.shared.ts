import { mkdirSync, writeFileSync } from "node:fs"
import { availableParallelism, tmpdir } from "node:os"
import { join } from "node:path"

import { defineConfig, type Plugin } from "vitest/config"

// Workspace packages are read from their TypeScript sources: tests need no build.
const conditions = ["@haft/source", "module", "node", "development|production"]

// A home of the tests' own: what a shell reads at its start there is nobody's, and takes no time. It holds a secret,
// because a sandbox must keep what is in a home to itself. State lies elsewhere: where the repository is the workspace,
// it could not be in there.
const home = join(import.meta.dirname, "node_modules", ".test-home")
mkdirSync(join(home, ".ssh"), { recursive: true })
writeFileSync(join(home, ".ssh", "id_test"), "a key that no command may read\n")

// The peers to test with, by the directory that they are installed in; scripts/lowest-peers.ts makes one with the lowest
// versions that the manifests take.
const { HAFT_PEERS: peers } = process.env
const otherPeers = (directory: string): Plugin => ({
  name: "other-peers",
  enforce: "pre",
  async resolveId(id) {
    const isPeer = /^(?:zod|ai|openai|@anthropic-ai\/sdk)(?:\/|$)/.test(id)
    return isPeer ? this.resolve(id, join(directory, "index.js"), { skipSelf: true }) : undefined
  }
})

export const shared = defineConfig({
  plugins: peers === undefined ? [] : [otherPeers(peers)],
  resolve: { conditions },
  ssr: { resolve: { conditions, externalConditions: ["@haft/source", "node"] } },
  test: {
    include: ["src/**/*.test.ts", "test/**/*.test.ts"],
    passWithNoTests: true,
    env: {
      HOME: home,
      XDG_STATE_HOME: join(tmpdir(), "haft-test-state"),
      // Programs that tests start compile the same modules again and again: a third of what they do.
      NODE_COMPILE_CACHE: join(home, "compile-cache")
    },
    // Processes, because in threads Node warns about descriptors that a socket takes over.
    pool: "forks",
    // Files share one module graph per worker, which makes the suite about ten times faster.
    // A test therefore never patches a module and leaves no state behind in one.
    isolate: false,
    // Most of a test's time is waiting, for programs and for time limits.
    maxWorkers: Math.max(3, availableParallelism()),
    testTimeout: 120_000,
    hookTimeout: 120_000,
    // A condition is waited for, however busy the machine is.
    expect: { poll: { timeout: 60_000 } }
  }
})
