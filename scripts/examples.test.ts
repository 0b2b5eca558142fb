import { execFile } from "node:child_process"
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"

import { afterAll, beforeAll, expect, it } from "vitest"

const root = join(import.meta.dirname, "..")
const examples = readdirSync(join(root, "examples"), { withFileTypes: true })
  .filter((entry) => entry.isDirectory())
  .flatMap(({ name }) => readdirSync(join(root, "examples", name, "src")).map((file) => `${name}/src/${file}`))

const pages = [
  "README.md",
  ...readdirSync(join(root, "packages")).map((name) => `packages/${name}/README.md`),
  ...readdirSync(join(root, "docs/guides")).map((name) => `docs/guides/${name}`)
]
const snippets = pages.flatMap((page) =>
  [...readFileSync(join(root, page), "utf8").matchAll(/^```ts\n([\s\S]*?)^```$/gm)].map(([, code], at) => ({
    name: `${page.replaceAll(/\W+/g, "-")}-${at + 1}.ts`,
    // Makes it a module, also if it imports nothing.
    code: `${code ?? ""}\nexport {}\n`
  }))
)

// The packages that a page's first program imports, and those that the page says to install for it.
const installs = pages.flatMap((page) => {
  const text = readFileSync(join(root, page), "utf8")
  const [, named] = /It takes `npm install ([^`]+)`/.exec(text) ?? []
  const [, program = ""] = /^```ts\n([\s\S]*?)^```$/m.exec(text) ?? []
  const imported = [...program.matchAll(/ from "((?:@[^/"]+\/)?[^/"]+)/g)].map(([, name = ""]) => name)
  return named === undefined ? [] : [{ page, named: named.split(" "), imported }]
})

it.each(installs)("$page says to install what its program imports, and the peers", ({ named, imported }) => {
  expect(named).toEqual([...new Set([...imported, "@haft/core", "effect", "zod"])].toSorted())
})

// A directory from which haft, effect and zod can be imported.
let directory = ""
beforeAll(() => {
  directory = mkdtempSync(join(root, "examples/basics/.snippets-"))
  for (const { name, code } of snippets) writeFileSync(join(directory, name), code)
})
afterAll(() => rmSync(directory, { recursive: true }))

const run = (...args: ReadonlyArray<string>) =>
  new Promise<void>((resolve, reject) => {
    // Several run at once, each on a workspace and a state of its own.
    const own = mkdtempSync(join(directory, "run-"))
    const cwd = join(own, "workspace")
    mkdirSync(cwd)
    const state = { XDG_STATE_HOME: join(own, "state"), XDG_CONFIG_HOME: join(own, "config") }
    const options = { cwd, env: { ...process.env, ...state } }
    execFile(process.execPath, [...args], options, (error, stdout, stderr) =>
      error === null ? resolve() : reject(new Error(`${args.at(-1)}\n${stdout}${stderr}`))
    )
  })

it.concurrent.each(examples)("runs the example %s", async (name) => {
  await expect(run("--conditions=@haft/source", join(root, "examples", name))).resolves.toBe(undefined)
})

it.concurrent("compiles every snippet of the docs", async () => {
  const settings = {
    extends: "../../../tsconfig.base.json",
    compilerOptions: { noEmit: true, rewriteRelativeImportExtensions: false, allowImportingTsExtensions: true },
    include: ["*.ts"]
  }
  writeFileSync(join(directory, "tsconfig.json"), JSON.stringify(settings))
  const compiler = join(root, "node_modules/typescript/bin/tsc")
  await expect(run(compiler, "-p", join(directory, "tsconfig.json"))).resolves.toBe(undefined)
})

// Several in one process, because most of a snippet's time is loading haft. Each has a workspace and a state of its own.
const runner = `
import { mkdirSync, writeFileSync } from "node:fs"
import { inspect } from "node:util"

for (const file of process.argv.slice(2)) {
  const own = file + ".run"
  mkdirSync(own + "/workspace", { recursive: true })
  process.chdir(own + "/workspace")
  process.env.XDG_STATE_HOME = own + "/state"
  process.env.XDG_CONFIG_HOME = own + "/config"
  const outcome = await import(file).then(() => String(process.exitCode ?? "ok"), inspect)
  writeFileSync(file + ".outcome", outcome)
}
`
const atOnce = 3
const runners = Array.from({ length: atOnce }, (_, group) => group)
let finished: Promise<ReadonlyArray<string>> | undefined

/** Runs all snippets, and says how each process ended. A process that does not end by itself keeps its tests waiting. */
const runSnippets = (): Promise<ReadonlyArray<string>> => {
  writeFileSync(join(directory, "runner.mjs"), runner)
  const files = snippets.map(({ name }) => join(directory, name))
  return Promise.all(
    runners.map((group) =>
      run("--conditions=@haft/source", join(directory, "runner.mjs"), ...files.filter((_, at) => at % atOnce === group))
        .then(() => "ok")
        .catch(String)
    )
  )
}

it.concurrent.each(snippets.map(({ name }, at) => ({ name, at })))(
  "runs the snippet $name of the docs",
  async ({ name, at }) => {
    const ended = await (finished ??= runSnippets())
    const outcome = join(directory, `${name}.outcome`)
    expect(existsSync(outcome) ? readFileSync(outcome, "utf8") : "did not end").toBe("ok")
    expect(ended[at % atOnce]).toBe("ok")
  }
)
