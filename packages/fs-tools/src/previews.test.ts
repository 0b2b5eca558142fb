import { approvalgate, cliagent, filetools, toolrouter } from "@haft/dialects"
import { scriptedApprover } from "@haft/testing"
import { describe, expect, it } from "vitest"

import { openTools } from "../test/open-tools.ts"

const files = {
  "a.txt": "one\ntwo\n",
  "b.bin": Buffer.from([0, 1]),
  "d/x": "",
  "d/e/y": "",
  link: { symlink: "a.txt" }
}

const edited = "--- a/a.txt\n+++ b/a.txt\n@@ -1,2 +1,2 @@\n one\n-two\n+2\n"
const created = "--- /dev/null\n+++ b/new.txt\n@@ -0,0 +1 @@\n+hello\n"
const deleted = "--- a/a.txt\n+++ /dev/null\n@@ -1,2 +0,0 @@\n-one\n-two\n"
const envelope = "*** Begin Patch\n*** Update File: a.txt\n@@\n one\n-two\n+2\n*** End Patch\n"

describe("every tool that changes something shows it first, and changes nothing by that", () => {
  it.each([
    [undefined, "write_file", { path: "new.txt", content: "hello\n" }, created],
    [undefined, "write_file", { path: "a.txt", content: "one\n2\n" }, edited],
    [undefined, "write_file", { path: "b.bin", content: "text" }, "Binary file b.bin: 4 bytes\n"],
    [undefined, "edit_file", { path: "a.txt", edits: [{ find: "two", replace: "2" }] }, edited],
    [undefined, "apply_patch", { patch: envelope }, `# a.txt: matched at line 2, exactly\n${edited}`],
    [undefined, "delete_path", { path: "a.txt" }, deleted],
    [undefined, "delete_path", { path: "link" }, "deleted link\n"],
    [
      undefined,
      "delete_path",
      { path: "d", recursive: true },
      "deleted d/\ndeleted d/e/\ndeleted d/e/y\ndeleted d/x\n"
    ],
    [undefined, "move_path", { from: "a.txt", to: "z.txt" }, "rename from a.txt\nrename to z.txt\n"],
    [
      undefined,
      "move_path",
      { from: "a.txt", to: "b.bin", overwrite: true },
      "Binary file b.bin is replaced or deleted\nrename from a.txt\nrename to b.bin\n"
    ],
    [undefined, "create_directory", { path: "n/m" }, "created n/\ncreated n/m/\n"],
    [undefined, "create_directory", { path: "d" }, ""],
    [toolrouter, "apply_patch_json", { patch: edited }, `# a.txt: matched at line 2, exactly\n${edited}`],
    [toolrouter, "apply_patch_freeform", { patch: envelope }, `# a.txt: matched at line 2, exactly\n${edited}`],
    [approvalgate, "write_file", { path: "new.txt", content: "aGVsbG8K", encoding: "base64" }, created],
    [approvalgate, "delete_file", { path: "a.txt" }, deleted],
    [approvalgate, "move_file", { from: "a.txt", to: "z" }, "rename from a.txt\nrename to z\n"],
    [cliagent, "create_file", { path: "new.txt", content: "hello\n" }, created],
    [cliagent, "replace_string_in_file", { path: "a.txt", old_string: "two", new_string: "2" }, edited],
    [cliagent, "create_directory", { path: "n" }, "created n/\n"],
    [filetools, "file.write", { path: "new.txt", content: "hello\n" }, created],
    [filetools, "file.patch", { path: "a.txt", patches: [{ find: "two", replace: "2" }] }, edited],
    [filetools, "file.delete", { path: "a.txt" }, deleted]
  ])("%o %s %j", async (dialect, tool, params, diff) => {
    await using tools = await openTools(files, dialect === undefined ? {} : { dialect })
    const preview = await tools.host.preview(tool, params)
    expect(preview.diff).toBe(diff)
    expect(tools.workspace.read("a.txt")).toBe("one\ntwo\n")
    expect(tools.workspace.exists("new.txt") || tools.workspace.exists("n")).toBe(false)
  })

  it("shows what an undo brings back, from how the files are now", async () => {
    await using tools = await openTools(files)
    await tools.call("edit_file", { path: "a.txt", edits: [{ find: "two", replace: "2" }] })
    await tools.call("move_path", { from: "a.txt", to: "z.txt" })
    await tools.call("delete_path", { path: "d", recursive: true })
    await tools.call("write_file", { path: "b.bin", content: "text" })
    const shown = async (params: unknown) => (await tools.host.preview("undo", params)).diff
    expect(await shown({})).toBe("Binary file b.bin: 2 bytes\n")
    await tools.call("undo", {})
    expect(await shown({})).toBe(
      ["d/x", "d/e/y"].map((path) => `new file mode 100644\n--- /dev/null\n+++ b/${path}\n`).join("")
    )
    await tools.call("undo", {})
    expect(await shown({})).toBe("rename from z.txt\nrename to a.txt\n")
    await tools.call("undo", {})
    expect(await shown({})).toBe("--- a/a.txt\n+++ b/a.txt\n@@ -1,2 +1,2 @@\n one\n-2\n+two\n")
    expect(tools.approver.questions.at(-1)?.facts.writes.map(({ path }) => path)).toEqual(["a.txt", "z.txt"])
  })

  it("undoes nothing when whoever sees it says no", async () => {
    const approver = scriptedApprover(({ call }) => ({ approved: call.tool !== "undo" }))
    await using tools = await openTools(files, { approver })
    await tools.call("write_file", { path: "a.txt", content: "three\n" })
    expect(await tools.call("undo", {})).toMatchObject({ ok: false, error: { code: "approval_denied" } })
    expect(tools.workspace.read("a.txt")).toBe("three\n")
  })

  it("shows the same diff to whoever is asked", async () => {
    await using tools = await openTools(files)
    await tools.call("edit_file", { path: "a.txt", edits: [{ find: "two", replace: "2" }] })
    expect(tools.approver.questions.map(({ preview }) => preview)).toEqual([edited])
  })
})
