import type { Reply } from "@haft/core"
import { expect, it } from "vitest"

import type { OpenBranchHost, PromiseBranches } from "./promise-branches.ts"
import { servedBranches } from "./served-branches.ts"

/** Branches whose hosts answer when a test says so. */
const openBranches = () => {
  const open = new Set<string>()
  const running = new Map<string, () => void>()
  const refused = (): Promise<never> => Promise.reject(new Error("not in this test"))
  const host = async (name: string): Promise<OpenBranchHost> => {
    open.add(name)
    const dispose = async (): Promise<void> => void open.delete(name)
    const call = (tool: string): Promise<Reply> =>
      tool === "quick"
        ? Promise.resolve({ ok: true } as Reply)
        : new Promise((resolve) => running.set(name, () => resolve({ ok: true } as Reply)))
    return { tools: [], preview: refused, call, dispose, [Symbol.asyncDispose]: dispose }
  }
  const branches: PromiseBranches = {
    create: refused,
    list: refused,
    diff: refused,
    merge: refused,
    drop: refused,
    run: refused,
    host
  }
  return { open, running, served: servedBranches(branches, refused) }
}

const names = ["a", "b", "c", "d", "e", "f", "g", "h"]

it("closes the host of the branch that has been idle for longest when a ninth is called", async () => {
  const { open, served } = openBranches()
  for (const name of [...names, "a"]) await served.call(name, "quick", {})
  await served.call("i", "quick", {})
  expect([...open].toSorted()).toEqual(["a", "c", "d", "e", "f", "g", "h", "i"])
  await served.dispose()
  expect(open.size).toBe(0)
})

it("refuses a call on a ninth branch while calls run on eight", async () => {
  const { open, running, served } = openBranches()
  const calls = names.map((name) => served.call(name, "slow", {}))
  await expect.poll(() => running.size).toBe(8)
  await expect(served.call("i", "quick", {})).rejects.toMatchObject({ code: "session_limit", retryable: true })
  // The branches that have a host are called as ever.
  expect(await served.call("a", "quick", {})).toMatchObject({ ok: true })
  running.get("b")?.()
  await calls[1]
  expect(await served.call("i", "quick", {})).toMatchObject({ ok: true })
  expect(open).toContain("i")
  expect(open).not.toContain("b")
  for (const end of running.values()) end()
  await Promise.all(calls)
  await served.dispose()
})
