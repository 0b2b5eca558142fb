import { writeFileSync } from "node:fs"
import { dirname, join } from "node:path"

import { afterAll, expect, it } from "@effect/vitest"

import { makeWorkspaces } from "../../test/workspaces.ts"
import { readNamedFile, readWhole } from "./named-file.ts"

const workspaces = makeWorkspaces("named")
afterAll(workspaces.remove)

it("reads a file that somebody named, without its byte order mark", async () => {
  const file = join(workspaces.make({}), "a.json")
  writeFileSync(file, "\uFEFF{}")
  expect(await readNamedFile(file)).toBe("{}")
  await expect(readNamedFile(`${file}.not`)).rejects.toThrow("there is no such file")
  await expect(readNamedFile(dirname(file))).rejects.toThrow("it is a directory")
})

it("gives up on what has no end", async () => {
  const block = Buffer.alloc(2 ** 24)
  const endless = async function* () {
    for (;;) yield block
  }
  await expect(readWhole(endless())).rejects.toThrow(/more than 268435456 bytes/)
})
