import { spawnSync } from "node:child_process"
import { copyFileSync, globSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"

import { afterAll, beforeAll, describe, expect, test } from "vitest"

const root = dirname(import.meta.dirname)

// Each entry is a file with one import that the linter must refuse, with `reason` in its message.
const stopped: ReadonlyArray<{ file: string; code: string; reason: string }> = [
  { file: "packages/core/src/a.ts", code: `import "node:path"`, reason: "effect and zod and nothing else" },
  { file: "packages/core/src/b.ts", code: `import "fs"`, reason: "effect and zod and nothing else" },
  { file: "packages/core/src/c.ts", code: `import "lodash/get"`, reason: "effect and zod and nothing else" },
  { file: "packages/core/src/d.ts", code: `import "@haft/dialects"`, reason: "effect and zod and nothing else" },
  { file: "packages/core/src/e.ts", code: `await import("node:os")`, reason: "effect and zod and nothing else" },
  { file: "packages/core/src/f.ts", code: `export * from "@scope/thing"`, reason: "effect and zod and nothing else" },
  { file: "packages/core/src/g.ts", code: `export const home = process.cwd()`, reason: "no Node global" },
  { file: "packages/core/src/h.ts", code: `import "effect/ai"`, reason: "knows a vendor" },
  { file: "packages/core/src/i.ts", code: `import { Effect } from "effect"`, reason: "effect/Effect" },
  { file: "packages/core/src/services/j.ts", code: `import type { Stats } from "node:fs"`, reason: "nothing else" },
  { file: "packages/core/src/cycle-a.ts", code: `import "./cycle-b.ts"`, reason: "cycle" },
  { file: "packages/dialects/src/a.ts", code: `import "node:util"`, reason: "all it needs" },
  { file: "packages/dialects/src/b.ts", code: `import "@haft/node"`, reason: "all it needs" },
  { file: "packages/dialects/src/c.ts", code: `export const bytes = Buffer.from("a")`, reason: "no Node global" },
  { file: "packages/node/src/a.ts", code: `import "@haft/approval"`, reason: "only @haft/core is known" },
  { file: "packages/node/src/b.ts", code: `import { Effect } from "effect"`, reason: "effect/Effect" },
  { file: "packages/node/src/c.ts", code: `import "openai"`, reason: "knows a vendor" },
  { file: "packages/approval/src/a.ts", code: `import "node:fs"`, reason: "Only packages/node opens files" },
  { file: "packages/approval/src/b.ts", code: `import "@haft/node"`, reason: "only @haft/core is known" },
  { file: "packages/approval/src/c.ts", code: `import "../../core/src/tool.ts"`, reason: "by its name" },
  { file: "packages/cluster/src/a.ts", code: `import "@haft/node"`, reason: "only @haft/core is known" },
  { file: "packages/cluster/src/b.ts", code: `import "openai"`, reason: "knows a vendor" },
  { file: "packages/node/src/d.ts", code: `import "pg"`, reason: "Only packages/cluster knows the database" },
  {
    file: "packages/haft/src/d.ts",
    code: `import "effect/cluster"`,
    reason: "Only packages/cluster knows the database"
  },
  { file: "apps/server/src/c.ts", code: `import "effect/sql"`, reason: "Only packages/cluster knows the database" },
  { file: "packages/adapters/src/a.ts", code: `import "node:child_process"`, reason: "Only packages/node opens files" },
  { file: "packages/adapters/src/b.ts", code: `import "haft"`, reason: "only @haft/core is known" },
  { file: "packages/testing/src/a.ts", code: `import "@haft/fs-tools"`, reason: "only @haft/core is known" },
  { file: "packages/fs-tools/src/a.ts", code: `import "node:fs/promises"`, reason: "Only packages/node opens files" },
  { file: "packages/fs-tools/src/b.ts", code: `import "@haft/search-tools"`, reason: "another tool package" },
  { file: "packages/fs-tools/src/c.ts", code: `import "@haft/node"`, reason: "the host's choice" },
  { file: "packages/fs-tools/src/d.ts", code: `import "@haft/approval"`, reason: "the host's choice" },
  { file: "packages/fs-tools/src/e.ts", code: `import "@haft/adapters/mcp"`, reason: "the host's choice" },
  { file: "packages/fs-tools/src/f.ts", code: `import "haft"`, reason: "the host's choice" },
  { file: "packages/fs-tools/src/i.ts", code: `import "@haft/core/internal"`, reason: "public names alone" },
  { file: "packages/dialects/src/d.ts", code: `import "@haft/core/internal"`, reason: "public names alone" },
  { file: "packages/fs-tools/src/g/h.ts", code: `import { Layer } from "effect"`, reason: "effect/Effect" },
  { file: "packages/fs-tools/src/a.test.ts", code: `import "@haft/exec-tools"`, reason: "as its users do" },
  { file: "packages/exec-tools/src/a.ts", code: `import "execa"`, reason: "Only packages/node opens files" },
  { file: "packages/search-tools/src/a.ts", code: `import "fast-glob"`, reason: "Only packages/node opens files" },
  { file: "packages/web-tools/src/a.ts", code: `import "@anthropic-ai/sdk"`, reason: "knows a vendor" },
  { file: "packages/dialect-x/src/a.ts", code: `import "@haft/fs-tools"`, reason: "what anybody can use" },
  { file: "packages/dialect-x/src/b.ts", code: `import "@haft/dialects"`, reason: "what anybody can use" },
  { file: "packages/dialect-x/src/c.ts", code: `import "haft/internal"`, reason: "what anybody can use" },
  { file: "packages/dialect-x/src/d.ts", code: `import "node:fs"`, reason: "Only packages/node opens files" },
  { file: "packages/haft/src/a.ts", code: `import "@modelcontextprotocol/server"`, reason: "knows a vendor" },
  { file: "packages/haft/src/b.ts", code: `import "ai"`, reason: "knows a vendor" },
  { file: "packages/haft/src/c.ts", code: `import "node:fs"`, reason: "Only packages/node opens files" },
  { file: "apps/cli/src/a.ts", code: `import "node:fs"`, reason: "Only packages/node opens files" },
  { file: "apps/cli/src/b.ts", code: `import "@haft/node"`, reason: "asks `haft` for a host" },
  { file: "apps/server/src/a.ts", code: `import "node:fs"`, reason: "Only packages/node opens files" },
  { file: "apps/server/src/b.ts", code: `import "@haft/cli"`, reason: "asks `haft` for a host" },
  {
    file: "apps/console/src/a.tsx",
    code: `import type { Rule } from "haft/internal"`,
    reason: "HTTP interface, nothing else"
  },
  { file: "apps/console/src/c.tsx", code: `import "@haft/core"`, reason: "HTTP interface, nothing else" },
  { file: "apps/console/src/b.ts", code: `import "node:fs"`, reason: "Only packages/node opens files" }
]

const open: ReadonlyArray<{ file: string; code: string }> = [
  { file: "packages/core/src/ok-a.ts", code: `import "effect/Effect"; import "zod"; import "./cycle-c.ts"` },
  { file: "packages/core/src/ok-b.ts", code: `import "effect/testing/TestClock"; import "../src.ts"` },
  { file: "packages/core/src/ok.test.ts", code: `import "node:fs"; import "vitest"` },
  { file: "packages/dialects/src/ok.ts", code: `import "@haft/core"; import "effect/Layer"; import "zod"` },
  {
    file: "packages/node/src/ok.ts",
    code: `import "node:fs"; import "execa"; import "fast-glob"; import "@haft/core"`
  },
  { file: "packages/cluster/src/ok.ts", code: `import "pg"; import "node:fs/promises"; import "@haft/core"` },
  { file: "packages/adapters/src/ok.ts", code: `import "@modelcontextprotocol/server"; import "effect/ai"` },
  { file: "packages/testing/src/ok.ts", code: `import "node:fs/promises"; import "@haft/core"` },
  { file: "packages/fs-tools/src/ok.ts", code: `import "@haft/core"; import "@haft/dialects"; import "./ai.ts"` },
  { file: "packages/fs-tools/src/ok.test.ts", code: `import "@haft/node"; import "@haft/testing"; import "node:fs"` },
  { file: "packages/fs-tools/test/ok.test.ts", code: `import "../src/index.ts"` },
  { file: "packages/dialect-x/src/ok.ts", code: `import "@haft/core"; import "@haft/fs-tools/operations"` },
  { file: "packages/haft/src/ok.ts", code: `import "@haft/node"; import "@haft/fs-tools"; import "node:path"` },
  { file: "apps/cli/src/ok.ts", code: `import "haft"; import "haft/promise"; import "node:module"` },
  { file: "apps/cli/src/ok-b.ts", code: `await import("@haft/server")` },
  { file: "apps/server/src/ok.ts", code: `import "haft"; import "haft/mcp"; import "srvx"` },
  { file: "apps/cli/src/ok.test.ts", code: `import "node:child_process"` },
  { file: "apps/console/src/ok.tsx", code: `import "react"; import "./style.css"; import "@haft/core/visible-text"` },
  { file: "scripts/ok.ts", code: `import "node:fs"` },
  { file: "bench/ok.ts", code: `import "node:fs"; import "effect"` }
]

const support = [
  { file: "packages/core/src/cycle-b.ts", code: `import "./cycle-a.ts"` },
  { file: "packages/core/src/cycle-c.ts", code: `export const c = 1` }
]

let directory: string
let messages: ReadonlyMap<string, string>

beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), "haft-fences-"))
  copyFileSync(join(root, "oxlint.config.ts"), join(directory, "oxlint.config.ts"))
  for (const { file, code } of [...stopped, ...open, ...support]) {
    mkdirSync(dirname(join(directory, file)), { recursive: true })
    writeFileSync(join(directory, file), `${code}\n`)
  }
  const args = [join(root, "node_modules/oxlint/bin/oxlint"), "--format=json", "packages", "apps", "scripts", "bench"]
  const { stdout } = spawnSync(process.execPath, args, { cwd: directory, encoding: "utf8" })
  messages = byFile(JSON.parse(stdout))
})

afterAll(() => rmSync(directory, { recursive: true, force: true }))

describe("a fence stops", () => {
  test.for(stopped)("$code in $file", ({ file, reason }) => {
    expect(messages.get(file) ?? "no message").toContain(reason)
  })
})

describe("no fence stops", () => {
  test.for(open)("$code in $file", ({ file }) => {
    expect(messages.get(file)).toBeUndefined()
  })
})

test("effects are run only where a program gets Promises or calls back, so that Effect users can compose the rest", () => {
  const bridges = [
    /^packages\/core\/src\/(promise|plugin\/async-plugin)\.ts$/,
    /^packages\/haft\/src\/(promise-api\.ts|(branches|cluster|contract|plugins|workspace)\/)/,
    /^packages\/haft\/src\/host\/(late-host|packages)\.ts$/,
    /^packages\/node\/src\/(process|network)\//,
    /^packages\/cluster\/src\/copy\//,
    /testing/
  ]
  const running = globSync("packages/*/src/**/*.ts", { cwd: root })
    .map((file) => file.replaceAll("\\", "/"))
    .filter((file) => !file.endsWith(".test.ts"))
    .filter((file) => /\.run(?:Promise|Sync|Fork)(?:Exit|With)?\(/.test(readFileSync(join(root, file), "utf8")))
  expect(running.length).toBeGreaterThan(10)
  expect(running.filter((file) => !bridges.some((bridge) => bridge.test(file)))).toEqual([])
})

type Report = { diagnostics: ReadonlyArray<{ code: string; message: string; help?: string; filename: string }> }

// Only the rules that fences are made of, because these small files break others too.
function byFile({ diagnostics }: Report): ReadonlyMap<string, string> {
  const fences = /no-restricted-(imports|globals)|no-cycle/
  const texts = new Map<string, string>()
  for (const { code, message, help, filename } of diagnostics) {
    if (!fences.test(code)) continue
    const file = filename.replaceAll("\\", "/")
    texts.set(file, `${texts.get(file) ?? ""}${message} ${help ?? ""}\n`)
  }
  return texts
}
