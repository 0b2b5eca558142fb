import { execFile } from "node:child_process"
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"

import { afterAll, beforeAll, expect, it } from "vitest"

const root = join(import.meta.dirname, "..")
const basics = join(root, "examples/basics")
const examples = readdirSync(join(basics, "src"))

// Where haft and what it shares with an application can be imported.
let directory = ""
beforeAll(() => {
  directory = mkdtempSync(join(basics, ".snippets-"))
  mkdirSync(join(directory, "workspace"))
})
afterAll(() => rmSync(directory, { recursive: true }))

const run = (file: string) =>
  new Promise<void>((resolve, reject) => {
    const state = { XDG_STATE_HOME: join(directory, "state"), XDG_CONFIG_HOME: join(directory, "config") }
    const options = { cwd: join(directory, "workspace"), env: { ...process.env, ...state } }
    execFile(process.execPath, ["--conditions=@haft/source", file], options, (error, stdout, stderr) =>
      error === null
        ? resolve()
        : reject(
            new Error(`${file}
${stdout}${stderr}`)
          )
    )
  })

it.each(examples)("runs the example %s", async (name) => {
  await expect(run(join(basics, "src", name))).resolves.toBe(undefined)
})

const pages = [
  "README.md",
  "packages/haft/README.md",
  ...readdirSync(join(root, "docs/guides")).map((name) => `docs/guides/${name}`)
]
const snippets = pages.flatMap((page) =>
  [...readFileSync(join(root, page), "utf8").matchAll(/^```ts\n([\s\S]*?)^```$/gm)].map(([, code], at) => ({
    name: `${page.replaceAll(/\W+/g, "-")}-${at + 1}.ts`,
    code: code ?? ""
  }))
)

it.each(snippets)("runs the snippet $name of the docs", async ({ name, code }) => {
  writeFileSync(join(directory, name), code)
  await expect(run(join(directory, name))).resolves.toBe(undefined)
})
