import { chmodSync, mkdirSync, statSync, symlinkSync } from "node:fs"
import { join } from "node:path"

import { afterAll, expect, it } from "@effect/vitest"

import { makeWorkspaces } from "../../test/workspaces.ts"
import { stateDirectory } from "./state-directory.ts"

const workspaces = makeWorkspaces("state")
afterAll(workspaces.remove)

it("is below the user's state directory, one per workspace, readable by its owner alone", () => {
  const before = process.env["XDG_STATE_HOME"]
  process.env["XDG_STATE_HOME"] = join(workspaces.base, "home")
  try {
    const [one, other] = [workspaces.make({}), workspaces.make({})].map((root) => stateDirectory({ root }))
    expect(one).toMatch(/\/home\/haft\/w1-[0-9a-f]{12}$/)
    expect(other).toMatch(/\/home\/haft\/w2-[0-9a-f]{12}$/)
    expect(statSync(one ?? "").mode & 0o777).toBe(0o700)
  } finally {
    if (before === undefined) delete process.env["XDG_STATE_HOME"]
    else process.env["XDG_STATE_HOME"] = before
  }
})

it.skipIf(process.platform !== "linux")(
  "is refused at once where no directory can be made (not on this platform)",
  () => {
    const root = workspaces.make({})
    expect(() => stateDirectory({ root, state: "/proc/haft/state" })).toThrow(/ENOENT/)
    expect(() => stateDirectory({ root, state: "/proc/version" })).toThrow(/EEXIST/)
  }
)

it("is refused inside the workspace, also where a link there leads out again", () => {
  const root = workspaces.make({})
  symlinkSync(workspaces.make({}), join(root, "link"))
  for (const state of ["state", "link", "link/state"]) {
    expect(() => stateDirectory({ root, state: join(root, state) })).toThrow(/is inside the workspace/)
  }
})

it("is refused where it contains the workspace, whose mode stays as it is", () => {
  const above = workspaces.make({})
  const root = join(above, "inner", "workspace")
  mkdirSync(root, { recursive: true })
  chmodSync(above, 0o755)
  for (const state of [above, join(above, "inner"), root]) {
    expect(() => stateDirectory({ root, state })).toThrow(/contains the workspace|is inside the workspace/)
  }
  expect(statSync(above).mode & 0o777).toBe(0o755)
})

it("says which of the two directories is at fault", () => {
  expect(() => stateDirectory({ root: "/nowhere/at/all" })).toThrow(
    "the workspace /nowhere/at/all can't be used: it does not exist"
  )
})
