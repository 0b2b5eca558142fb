import { dirname, join } from "node:path"

import { temporaryWorkspace } from "@haft/testing"
import { expect, it } from "vitest"

import { seatbeltProfile } from "./seatbelt.ts"

it("allows the workspace, keeps what is protected in it, and closes the network", () => {
  using workspace = temporaryWorkspace({ ".git/config": "", ".git/hooks/x": "", 'odd "name"': "" })
  const profile = seatbeltProfile(workspace.root, {}, {})
  expect(profile).toContain(`(subpath "${workspace.root}")`)
  expect(profile).toContain(`(deny file-write* (subpath "${workspace.root}/.git/hooks")`)
  expect(profile).toContain(`(literal "${workspace.root}/.git")`)
  expect(profile).toContain(`(deny network*)\n(allow network-bind network-outbound (subpath "${workspace.root}")`)
})

it("closes the workspace when asked to", () => {
  using workspace = temporaryWorkspace()
  const profile = seatbeltProfile(workspace.root, {}, { writable: false })
  expect(profile).toContain(`(deny file-write* (subpath "${workspace.root}"))`)
})

it("lets programs find out where they are without showing what else is there", () => {
  using workspace = temporaryWorkspace()
  const profile = seatbeltProfile(workspace.root, {}, {})
  const above = dirname(workspace.root)
  const line = profile.split("\n").find((rule) => rule.startsWith("(allow file-read-metadata"))
  expect(line).toContain(`(literal "/") `)
  expect(line).toContain(`(literal "${above}")`)
  expect(profile).not.toContain(`(subpath "${above}")`)
})

it("names what links lead to, because the system looks at nothing else", () => {
  using workspace = temporaryWorkspace({ tools: { directory: true }, link: { symlink: "tools" } })
  const profile = seatbeltProfile(workspace.root, { readOnlyPaths: [join(workspace.root, "link")] }, {})
  expect(profile).toContain(`(deny file-write* (subpath "${workspace.root}/tools"))`)
})

it("has as many parentheses as it should, whatever files are called", () => {
  using workspace = temporaryWorkspace({ 'odd "(name\\': { directory: true } })
  const profile = seatbeltProfile(join(workspace.root, 'odd "(name\\'), {}, {})
  for (const rule of profile.split("\n")) {
    const bare = rule.replaceAll(/"(?:[^"\\]|\\.)*"/g, "")
    expect([...bare.matchAll(/\(/g)].length).toBe([...bare.matchAll(/\)/g)].length)
    expect(bare).not.toContain('"')
  }
})
