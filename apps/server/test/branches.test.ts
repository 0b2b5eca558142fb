import { expect, it } from "vitest"

import { startServer } from "./running.ts"

it.runIf(process.platform === "linux")(
  "agents try several attempts side by side over HTTP, and an approver merges one (not on this platform)",
  async () => {
    const { base, send, post, call, workspace } = await startServer({ mode: "accept-edits" })
    const branches = `${base}/branches`
    const made = await post(branches, { name: "fix-1" })
    expect(await made.json()).toMatchObject({ name: "fix-1", isInUse: false })
    await post(branches, { name: "fix-2" })
    expect([
      (await post(branches, { name: "fix-1" })).status,
      (await post(branches, { name: "../x" })).status,
      (await send(`${branches}/none/diff`, "agent")).status,
      (await send(branches)).status
    ]).toEqual([409, 400, 404, 401])
    const write = { tool: "write_file", params: { path: "a.txt", content: "fixed\n" } }
    expect(await (await post(`${branches}/fix-1/calls`, write)).json()).toMatchObject({ ok: true })
    expect(await call("read_file", { path: "a.txt" })).toMatchObject({ result: { content: "one\ntwo\n" } })
    const read = { tool: "read_file", params: { path: "a.txt" } }
    expect(await (await post(`${branches}/fix-1/calls`, read)).json()).toMatchObject({ result: { content: "fixed\n" } })
    const diff = await (await send(`${branches}/fix-1/diff`, "agent")).json()
    expect(diff).toMatchObject({ changes: [{ path: "a.txt", kind: "modified" }], conflicts: [] })
    // A merge is asked about; who calls with the approver's token has approved it.
    const merge = post(`${branches}/fix-1/merge`, {})
    const question = await firstQuestion(() => send(`${base}/approvals`, "approver"))
    expect(question).toMatchObject({ tool: "merge_branch", diff: expect.stringContaining("+fixed") })
    await post(`${base}/approvals/${question.id}`, { approved: false }, "approver")
    expect(await (await merge).json()).toMatchObject({ ok: false, error: { code: "approval_denied" } })
    expect(await (await post(`${branches}/fix-1/merge`, {}, "approver")).json()).toMatchObject({
      ok: true,
      result: { branch: "fix-1", modified: 1 }
    })
    expect(workspace.read("a.txt")).toBe("fixed\n")
    expect(await (await send(`${branches}/fix-2`, "agent", { method: "DELETE" })).json()).toEqual({ dropped: true })
    expect(await (await send(branches, "agent")).json()).toEqual({ branches: [] })
  },
  60_000
)

interface Question {
  readonly id: string
}

const firstQuestion = async (list: () => Promise<Response>): Promise<Question> => {
  for (;;) {
    const { approvals = [] } = (await (await list()).json()) as { readonly approvals?: ReadonlyArray<Question> }
    if (approvals[0] !== undefined) return approvals[0]
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
}
