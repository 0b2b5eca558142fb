// Checks every package that is published, as it will be published: packed, then looked at by publint
// (is the manifest right?) and by are-the-types-wrong (do imports and types resolve?).
import { execFile } from "node:child_process"
import { cp, mkdtemp, readdir, readFile, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { promisify } from "node:util"

import { checkPackage, createPackageFromTarballData } from "@arethetypeswrong/core"
import { publint } from "publint"
import { formatMessage } from "publint/utils"

// haft is ESM only: CommonJS, and resolution without `exports`, are not supported.
const notPromised = ["node10", "node16-cjs"]

const root = dirname(import.meta.dirname)
const packed = await mkdtemp(join(tmpdir(), "haft-packed-"))
try {
  await bringCommandIntoFacade()
  const names = await readdir(join(root, "packages"))
  const results = await Promise.all(names.map(check))
  const problems = results.flat()
  for (const problem of problems) console.error(problem)
  if (problems.length > 0) process.exitCode = 1
  else console.log(`${names.length} packages are fit to publish`)
} finally {
  await rm(packed, { recursive: true, force: true })
}

// The package `haft` contains the bundled command of apps/cli, and beside it the files of the console.
async function bringCommandIntoFacade(): Promise<void> {
  const target = join(root, "packages/haft/cli")
  await rm(target, { recursive: true, force: true })
  await cp(join(root, "apps/cli/dist"), target, { recursive: true })
  await cp(join(root, "apps/console/dist"), join(target, "console"), { recursive: true })
}

async function check(name: string): Promise<ReadonlyArray<string>> {
  const directory = join(root, "packages", name)
  const { stdout } = await promisify(execFile)("pnpm", ["pack", "--json", "--pack-destination", packed], {
    cwd: directory
  })
  const { filename } = JSON.parse(stdout) as { filename: string }
  const tarball = await readFile(filename)
  const found = [...(await lint(tarball)), ...(await resolve(tarball))]
  return found.map((problem) => `packages/${name}: ${problem}`)
}

async function lint(tarball: Buffer): Promise<ReadonlyArray<string>> {
  const { messages, pkg } = await publint({ pack: { tarball: new Uint8Array(tarball).buffer }, strict: true })
  return messages.map((message) => `${message.type}: ${formatMessage(message, pkg) ?? message.code}`)
}

async function resolve(tarball: Buffer): Promise<ReadonlyArray<string>> {
  const analysis = await checkPackage(createPackageFromTarballData(new Uint8Array(tarball)))
  if (!analysis.types) return ["no types found"]
  return analysis.problems
    .filter((problem) => !("resolutionKind" in problem && notPromised.includes(problem.resolutionKind)))
    .map((problem) => `types: ${JSON.stringify(problem)}`)
}
