import { readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"

import { temporaryWorkspace } from "@haft/testing"
import { expect, it } from "vitest"

import { openHost } from "./promise.ts"

const openRoots = async (sandbox: "none" | "auto" = "none") => {
  const app = temporaryWorkspace({ "a.txt": "needle in app\n", "src/b.txt": "b\n" })
  const lib = temporaryWorkspace({ "l.txt": "needle in lib\n", ".gitignore": "ignored\n", ignored: "needle\n" })
  const host = await openHost({
    roots: [
      { name: "app", path: app.root },
      { name: "lib", path: lib.root, access: "read" }
    ],
    state: app.state,
    sandbox,
    approval: "all"
  })
  return {
    app,
    lib,
    call: async (tool: string, params: object) => {
      const reply = await host.call(tool, params)
      return reply.ok ? reply.text : reply.error.code
    },
    [Symbol.asyncDispose]: async () => {
      await host.dispose()
      app.remove()
      lib.remove()
    }
  }
}

it("reads, lists, finds and searches files by the names of roots", async () => {
  await using roots = await openRoots()
  expect(await roots.call("read_file", { path: "lib/l.txt" })).toBe("needle in lib\n")
  expect(await roots.call("read_file", { path: join(roots.lib.root, "l.txt") })).toBe("needle in lib\n")
  expect(await roots.call("read_file", { path: "l.txt" })).toBe("path_outside_workspace")
  expect(await roots.call("list_dir", { path: "." })).toMatch(/^app\/\nlib\/$/m)
  expect(await roots.call("find_files", { pattern: "**/*.txt" })).toMatch(/app\/a\.txt\napp\/src\/b\.txt\nlib\/l\.txt/)
  const all = await roots.call("search_text", { query: "needle" })
  expect(all).toContain("app/a.txt")
  expect(all).toContain("lib/l.txt")
  expect(all).not.toContain("ignored")
  const one = await roots.call("search_text", { query: "needle", path: "lib" })
  expect(one).toContain("l.txt")
  expect(one).not.toContain("a.txt")
})

it("changes files in roots with write access only, shows the root in the diff, and undoes it", async () => {
  await using roots = await openRoots()
  const edit = (path: string) => ({ path, edits: [{ find: "needle", replace: "thread" }] })
  expect(await roots.call("edit_file", edit("lib/l.txt"))).toBe("read_only_root")
  expect(roots.lib.read("l.txt")).toBe("needle in lib\n")
  await roots.call("edit_file", edit("app/a.txt"))
  expect(roots.app.read("a.txt")).toBe("thread in app\n")
  expect(await roots.call("undo", {})).toContain("app/a.txt")
  expect(roots.app.read("a.txt")).toBe("needle in app\n")
})

it("runs commands in a root, and lets them read the others in the sandbox", async () => {
  await using roots = await openRoots("auto")
  const inLib = JSON.stringify(join(roots.lib.root, "l.txt"))
  const command = `pwd; cat ${inLib}; echo changed > made.txt; echo changed > ${inLib} || echo refused`
  const said = await roots.call("run_command", { command })
  expect(said).toContain(`${roots.app.root}\nneedle in lib\n`)
  expect(said).toContain("refused")
  expect(readFileSync(join(roots.app.root, "made.txt"), "utf8")).toBe("changed\n")
  expect(roots.lib.read("l.txt")).toBe("needle in lib\n")
  writeFileSync(join(roots.app.root, "src/here"), "")
  expect(await roots.call("run_command", { command: "pwd; ls", cwd: "app/src" })).toContain(
    `${roots.app.root}/src\nb.txt\nhere`
  )
  expect(await roots.call("run_command", { command: "pwd", cwd: "lib" })).toContain(`${roots.lib.root}\n`)
})
