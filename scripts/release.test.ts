import { execFile, spawnSync } from "node:child_process"
import { cpSync, globSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { promisify } from "node:util"

import { expect, test } from "vitest"

const root = dirname(import.meta.dirname)
const manifests = globSync("{packages,apps}/*/package.json", { cwd: root })
const fixedGroup = ["@haft/core", "@haft/dialects", "@haft/testing"]

test.concurrent.for([
  { from: "0.1.0", group: "0.2.0", others: ["0.1.0", "0.1.1"] },
  { from: "1.0.0", group: "1.1.0", others: ["1.0.0"] }
])("a minor of core at $from moves its group, and no dependant beyond a patch", async ({ from, group, others }) => {
  for (const [name, version] of await release(from, { "@haft/core": "minor" })) {
    expect(fixedGroup.includes(name) ? [group] : others, name).toContain(version)
  }
})

// A changeset for a package that is not published, such as an app, would make every release fail.
test.concurrent("the changesets that wait can be released as they are", async () => {
  const waiting = globSync(".changeset/*.md", { cwd: root }).filter((file) => !file.endsWith("README.md"))
  const texts = waiting.map((file) => readFileSync(join(root, file), "utf8"))
  expect(await released("0.1.0", texts)).toHaveLength(manifests.filter((file) => file.startsWith("packages/")).length)
})

test("a new plugin takes the peer ranges that haft's own packages take", () => {
  const catalog = readFileSync(join(root, "pnpm-workspace.yaml"), "utf8")
  const [, peers = ""] = /^ {2}peers:\n((?: {4}.*\n)+)/m.exec(catalog) ?? []
  const template = readFileSync(join(root, "packages/haft/templates/common/package.json.template"), "utf8")
  const [, written = ""] = /"peerDependencies": \{([^}]*\}\}[^}]*)\}/.exec(template) ?? []
  const ranges = [...written.matchAll(/"(\w+)": "([^"]+)"/g)].map(([, name, range]) => `    ${name}: ${range}`)
  expect(ranges).toHaveLength(2)
  expect(peers.split("\n")).toEqual(expect.arrayContaining(ranges))
})

function release(from: string, bumps: Record<string, string>): Promise<Versions> {
  const lines = Object.entries(bumps).map(([name, bump]) => `"${name}": ${bump}\n`)
  return released(from, [`---\n${lines.join("")}---\n\nA change.\n`])
}

type Versions = ReadonlyArray<readonly [name: string, version: string]>

// The versions after `changeset version`, in a copy where every package begins with the same version.
async function released(from: string, changesets: ReadonlyArray<string>): Promise<Versions> {
  const directory = mkdtempSync(join(tmpdir(), "haft-release-"))
  try {
    mkdirSync(join(directory, ".changeset"))
    for (const file of ["package.json", "pnpm-workspace.yaml", ".changeset/config.json"]) {
      cpSync(join(root, file), join(directory, file))
    }
    for (const file of manifests) {
      mkdirSync(join(directory, dirname(file)), { recursive: true })
      writeFileSync(join(directory, file), JSON.stringify({ ...manifest(join(root, file)), version: from }))
    }
    for (const [at, text] of changesets.entries()) writeFileSync(join(directory, `.changeset/change-${at}.md`), text)

    spawnSync("git", ["init", "--quiet"], { cwd: directory })
    const changeset = join(root, "node_modules/@changesets/cli/bin.js")
    await promisify(execFile)(process.execPath, [changeset, "version"], { cwd: directory }).catch(
      // The program prints its errors on standard output.
      ({ stdout }: { readonly stdout: string }) => Promise.reject(new Error(stdout))
    )

    return manifests
      .map((file) => manifest(join(directory, file)))
      .filter((one) => one.private !== true)
      .map((one) => [one.name, one.version])
  } finally {
    rmSync(directory, { recursive: true, force: true })
  }
}

function manifest(file: string): { name: string; version: string; private?: boolean } {
  return JSON.parse(readFileSync(file, "utf8"))
}
