import { defineConfig } from "vitest/config"

// Packages that change or guard a user's machine: tests must run nearly all of their lines.
const guarded = [
  "dialects",
  "approval",
  "cluster",
  "fs-tools",
  "search-tools",
  "exec-tools",
  "pty-tools",
  "web-tools",
  "git-tools",
  "dialect-*"
]

export default defineConfig({
  test: {
    projects: ["packages/*", "apps/*", "scripts"],
    reporters: ["default", "./scripts/count-reporter.ts"],
    coverage: {
      provider: "v8",
      // Seen from here when all projects run, and from the project when one does.
      include: ["**/src/**/*.ts"],
      exclude: ["**/*.test.ts"],
      reporter: ["text", "lcov"],
      thresholds: Object.fromEntries(guarded.map((name) => [`packages/${name}/src/**`, { lines: 95 }]))
    }
  }
})
