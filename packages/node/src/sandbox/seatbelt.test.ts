import { temporaryWorkspace } from "@haft/testing"
import { expect, it } from "vitest"

import { seatbeltProfile } from "./seatbelt.ts"

it("allows the workspace, keeps what is protected in it, and closes the network", () => {
  using workspace = temporaryWorkspace({ ".git/config": "", ".git/hooks/x": "", 'odd "name"': "" })
  const profile = seatbeltProfile(workspace.root, {}, {})
  expect(profile).toContain(`(allow file-read* (subpath "${workspace.root}")`)
  expect(profile).toContain(`(deny file-write* (subpath "${workspace.root}/.git/hooks")`)
  expect(profile).toContain(`(literal "${workspace.root}/.git")`)
  expect(profile).toContain("(deny network*)")
})

it("opens the network and closes the workspace when asked to", () => {
  using workspace = temporaryWorkspace()
  const profile = seatbeltProfile(workspace.root, {}, { network: true, writable: false })
  expect(profile).toContain("(allow network*)")
  expect(profile).toContain(`(deny file-write* (subpath "${workspace.root}"))`)
})
