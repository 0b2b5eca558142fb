import { readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"

import { temporaryWorkspace } from "@haft/testing"
import { expect, it } from "vitest"

import { openHost } from "./promise.ts"

const openRoots = async (sandbox: "none" | "auto" | "unshare" = "none") => {
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
    host,
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

it.runIf(process.platform === "linux")("commits what a command changed on an overlay of the first root", async () => {
  await using roots = await openRoots("unshare")
  const run = async (command: string) => {
    const reply = await roots.host.call("run_command", { command })
    return { reply, output: reply.output as { readonly changes?: { readonly paths: ReadonlyArray<object> } } }
  }
  roots.app.put(".gitignore", "out\n")
  const made = await run(
    "echo 2 >> a.txt; rm src/b.txt; mkdir new out; echo 1 > new/n; echo x > out/built; mkfifo new/p"
  )
  expect(made.output.changes).toMatchObject({
    outcome: "committed",
    created: 4,
    modified: 1,
    deleted: 1,
    left_out: [{ path: "app/new/p", reason: "it is a pipe, a socket or a device" }]
  })
  expect(made.output.changes?.paths).toContainEqual({ path: "app/a.txt", kind: "modified" })
  expect(made.reply.writes).toContain("app/new/n")
  expect([roots.app.read("a.txt"), roots.app.read("new/n"), roots.app.exists("src/b.txt")]).toEqual([
    "needle in app\n2\n",
    "1\n",
    false
  ])
  const replaced = await run("rm -r new; mkdir new; echo 2 > new/m")
  expect(replaced.output.changes).toMatchObject({ outcome: "committed", created: 1, deleted: 1 })
  expect([roots.app.exists("new/n"), roots.app.read("new/m")]).toEqual([false, "2\n"])
  for (let undone = 0; undone < 2; undone++) expect(await roots.call("undo", {})).toContain("app/new")
  expect([roots.app.read("a.txt"), roots.app.read("src/b.txt"), roots.app.exists("new")]).toEqual([
    "needle in app\n",
    "b\n",
    false
  ])
})

it.runIf(process.platform === "linux")("refuses a command's change of a file that was edited meanwhile", async () => {
  await using roots = await openRoots("unshare")
  let edited: Promise<unknown> | undefined
  const reply = await roots.host.call(
    "run_command",
    { command: "echo mine >> a.txt; echo begun; sleep 1.5" },
    {
      onProgress: ({ message }) => {
        if (message === "begun") edited ??= roots.call("delete_path", { path: "app/a.txt" })
      }
    }
  )
  await edited
  expect(reply.error).toMatchObject({ code: "stale_file", message: expect.stringContaining("app/a.txt") })
})
