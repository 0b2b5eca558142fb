import { execFileSync } from "node:child_process"
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"

// Runs a smoke set of the tests with the lowest versions of the peers that the manifests take. The other tests run with
// the latest. Effect is left out: its lowest version is the one that is installed.

const smoke = [
  "packages/core/src/schema",
  "packages/core/src/pipeline",
  "packages/dialects",
  "packages/approval/src/rules",
  "packages/adapters/src/models.test.ts",
  "packages/fs-tools/src/contract-cases.test.ts",
  "packages/haft/src/host/typed-host.test.ts"
]

const root = join(import.meta.dirname, "..")
const directory = mkdtempSync(join(tmpdir(), "haft-peers-"))
try {
  const wanted = lowestPeers(readFileSync(join(root, "pnpm-workspace.yaml"), "utf8"))
  writeFileSync(join(directory, "package.json"), JSON.stringify({ private: true, overrides: wanted }))
  const packages = Object.entries(wanted).map(([name, version]) => `${name}@${version}`)
  const flags = ["--no-audit", "--no-fund", "--legacy-peer-deps", "--loglevel=error"]
  execFileSync("npm", ["install", ...flags, ...packages], { cwd: directory, stdio: "inherit" })
  console.log(`Testing with ${packages.join(", ")}`)
  const env = { ...process.env, HAFT_PEERS: directory }
  execFileSync(join(root, "node_modules/.bin/vitest"), ["run", ...smoke], { cwd: root, env, stdio: "inherit" })
} finally {
  rmSync(directory, { recursive: true })
}

/** The first versions of the ranges in the catalog `peers`, of the packages that can be replaced in a test. */
function lowestPeers(workspace: string): Readonly<Record<string, string>> {
  const [, catalog = ""] = /^ {2}peers:\n((?: {4}.*\n)+)/m.exec(workspace) ?? []
  const entries = [...catalog.matchAll(/^ {4}"?([^":]+)"?: \^(\S+)$/gm)].map(([, name = "", version = ""]) => [
    name,
    version
  ])
  return Object.fromEntries(entries.filter(([name = ""]) => !/^(?:effect$|@modelcontextprotocol\/)/.test(name)))
}
