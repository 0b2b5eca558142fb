import { availableParallelism } from "node:os"

import { defineConfig } from "vitest/config"

// Workspace packages are read from their TypeScript sources: tests need no build.
const conditions = ["@haft/source", "module", "node", "development|production"]

export const shared = defineConfig({
  resolve: { conditions },
  ssr: { resolve: { conditions, externalConditions: ["@haft/source", "node"] } },
  test: {
    include: ["src/**/*.test.ts", "test/**/*.test.ts"],
    passWithNoTests: true,
    // Processes, because in threads Node warns about descriptors that a socket takes over.
    pool: "forks",
    // Files share one module graph per worker, which makes the suite about ten times faster.
    // A test therefore never patches a module and leaves no state behind in one.
    isolate: false,
    // Most of a test's time is waiting, for programs and for time limits.
    maxWorkers: Math.max(3, availableParallelism()),
    testTimeout: 30_000,
    hookTimeout: 30_000,
    // A condition is waited for, however busy the machine is.
    expect: { poll: { timeout: 20_000 } }
  }
})
