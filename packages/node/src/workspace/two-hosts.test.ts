import { spawn } from "node:child_process"
import { once } from "node:events"
import { readdirSync } from "node:fs"
import { join } from "node:path"

import { afterAll, beforeAll, expect, it } from "@effect/vitest"

import { bundleProgram } from "../../test/bundle.ts"
import { contentsOf, inWorkspace, makeWorkspaces } from "../../test/workspaces.ts"

const workspaces = makeWorkspaces("rivals")
const program = join(workspaces.base, "child.mjs")
const times = process.env["HAFT_LONG"] === undefined ? 40 : 1000

beforeAll(() => bundleProgram("rival-child.ts", program))
afterAll(workspaces.remove)

it("loses no commit of two hosts that change the same files at the same time", { timeout: 600_000 }, async () => {
  const root = workspaces.make({ "a.txt": "0", "b.txt": "0", "d/c.txt": "0" })
  const run = async (name: string): Promise<number> => {
    const child = spawn(process.execPath, [program, root, `${root}.state`, name, String(times)], {
      stdio: ["ignore", "ignore", "inherit"]
    })
    return (await once(child, "exit"))[0] as number
  }
  expect(await Promise.all([run("one"), run("other")])).toEqual([0, 0])
  const count = String(2 * times)
  expect(contentsOf(root)).toEqual({ "a.txt": count, "b.txt": count, d: null, "d/c.txt": count })
  expect(readdirSync(`${root}.state`).toSorted()).toEqual(["commits", "format.json", "history", "turn"])
  expect(readdirSync(`${root}.state/turn`)).toEqual(["nobody"])
  expect(readdirSync(`${root}.state/commits`)).toEqual([])
  const { calls } = await inWorkspace(root, (workspace) => workspace.undo())
  expect(calls).toHaveLength(1)
  const before = String(2 * times - 1)
  expect(contentsOf(root)).toEqual({ "a.txt": before, "b.txt": before, d: null, "d/c.txt": before })
})
