import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"

import type { HaftConfig } from "haft"

/** The calls of the scripted model, for all APIs: read, edit, run the tests. */
export const script = [
  { name: "read_file", input: { path: "add.js" } },
  { name: "edit_file", input: { path: "add.js", edits: [{ find: "a - b", replace: "a + b" }] } },
  { name: "run_command", input: { command: "node --test" } }
]

/** Stands for a person who approves everything. */
export const approve = async () => ({ approved: true })

/** Makes a small project with a bug in it. Fails unless `repair` fixes the bug and the tests pass. */
export const onSmallProject = async (
  repair: (config: HaftConfig) => Promise<ReadonlyArray<unknown>>
): Promise<void> => {
  const directory = await mkdtemp(join(tmpdir(), "haft-example-"))
  const [root, state] = [join(directory, "project"), join(directory, "state")]
  try {
    await mkdir(root)
    await writeFile(join(root, "package.json"), `{ "type": "module" }\n`)
    await writeFile(join(root, "add.js"), "export const add = (a, b) => a - b\n")
    await writeFile(
      join(root, "add.test.js"),
      `import assert from "node:assert/strict"\nimport { test } from "node:test"\nimport { add } from "./add.js"\n` +
        `test("adds", () => assert.equal(add(2, 2), 4))\n`
    )
    const answers = await repair({ root, state, packages: ["fs", "exec"], sandbox: "none" })
    const repaired = await readFile(join(root, "add.js"), "utf8")
    const tested = JSON.stringify(answers.at(-1))
    if (!repaired.includes("a + b") || !/pass 1\b/.test(tested)) throw new Error(`not repaired: ${repaired}${tested}`)
    console.log(`${answers.length} calls, repaired and tested`)
  } finally {
    await rm(directory, { recursive: true })
  }
}
