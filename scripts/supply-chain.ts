// Checks everything that users install together with haft: how much it is, its licenses, and whether any of it has an
// install script. Writes the bill of materials to .supply-chain/, as CycloneDX.
import { execFileSync } from "node:child_process"
import { mkdirSync, readFileSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"

/** Licenses that require nothing but attribution. */
const fine = new Set(
  "MIT MIT-0 ISC 0BSD BSD-2-Clause BSD-3-Clause Apache-2.0 BlueOak-1.0.0 Python-2.0 CC0-1.0 Unlicense".split(" ")
)
/** In `A OR B` one of them must be fine, in `A AND B` both. */
const isFine = (license: string): boolean =>
  license
    .replaceAll(/[()]/gu, "")
    .split(" OR ")
    .some((choice) => choice.split(" AND ").every((one) => fine.has(one)))

const root = dirname(import.meta.dirname)
const output = join(root, ".supply-chain")
mkdirSync(output, { recursive: true })
const problems: Array<string> = []

interface Licensed {
  readonly name: string
  readonly versions: ReadonlyArray<string>
  readonly paths: ReadonlyArray<string>
}
const licenses = JSON.parse(pnpm("licenses", "list", "--prod", "--json", "--recursive")) as Record<
  string,
  Array<Licensed>
>
for (const [license, packages] of Object.entries(licenses)) {
  console.log(
    `${license}: ${packages
      .map(({ name }) => name)
      .toSorted()
      .join(", ")}`
  )
  if (!isFine(license)) problems.push(`${license} is on no list: ${packages.map(({ name }) => name).join(", ")}`)
  for (const { name, paths } of packages) {
    for (const path of paths) {
      const { scripts = {} } = JSON.parse(readFileSync(join(path, "package.json"), "utf8")) as { scripts?: object }
      const run = ["preinstall", "install", "postinstall"].filter((script) => script in scripts)
      if (run.length > 0) problems.push(`${name} runs a script when it is installed: ${run.join(", ")}`)
    }
  }
}

const bill = pnpm("sbom", "--sbom-format", "cyclonedx", "--prod")
writeFileSync(join(output, "sbom.cdx.json"), bill)
const { components } = JSON.parse(bill) as { readonly components: ReadonlyArray<unknown> }
console.log(`${components.length} components are in .supply-chain/sbom.cdx.json`)

for (const problem of problems) console.error(`✗ ${problem}`)
process.exitCode = problems.length === 0 ? 0 : 1

function pnpm(...args: ReadonlyArray<string>): string {
  return execFileSync("pnpm", args, { cwd: root, encoding: "utf8", maxBuffer: 64 * 1024 * 1024 })
}
