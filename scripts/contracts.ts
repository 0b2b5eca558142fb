// Compares every tool package with its contract.lock.json, which has the tools of the last release. A changed tool
// needs a changeset with a large enough bump. `--release` writes the new versions into the code, and new locks.
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"

import { checkContract, lockContract, showContractCheck } from "haft/internal"

const root = dirname(import.meta.dirname)
const directories = readdirSync(join(root, "packages"))
  .map((name) => join(root, "packages", name))
  .filter((directory) => existsSync(join(directory, "package.json")))
const toolPackages = directories.filter((directory) => /-tools$|\/dialect-[^/]*$/.test(directory))

if (process.argv.includes("--release")) {
  for (const directory of directories) stampVersion(directory)
  for (const directory of toolPackages) await lockContract(directory)
} else {
  const checks = await Promise.all(toolPackages.map(checkContract))
  for (const check of checks.filter(({ ok }) => !ok)) console.error(showContractCheck(check))
  if (checks.some(({ ok }) => !ok)) process.exitCode = 1
  else console.log(`${checks.length} tool packages keep their promises`)
}

// The version is written into the code, because in a bundle there is no package.json to read it from.
function stampVersion(directory: string): void {
  const { version } = JSON.parse(readFileSync(join(directory, "package.json"), "utf8")) as { version: string }
  for (const file of ["src/index.ts", "src/plugin/version.ts"]
    .map((name) => join(directory, name))
    .filter(existsSync)) {
    const text = readFileSync(file, "utf8")
    const stamped = text.replace(/((?:^  version: |coreVersion = )")[^"]*(")/m, `$1${version}$2`)
    if (stamped !== text) writeFileSync(file, stamped)
  }
}
