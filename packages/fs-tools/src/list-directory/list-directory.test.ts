import { toolError, Workspace } from "@haft/core"
import { toolrouter } from "@haft/dialects"
import { nodeWorkspace } from "@haft/node"
import { temporaryWorkspace } from "@haft/testing"
import * as Effect from "effect/Effect"
import * as fc from "fast-check"
import { describe, expect, it } from "vitest"

import { openTools } from "../../test/open-tools.ts"
import { withInfo } from "./list-directory.ts"

const name = fc.constantFrom("a", "b", "B", "a.txt", ".hidden", "ü", "10", "9", "a b")
const file = fc.array(name, { minLength: 1, maxLength: 4 }).map((names) => names.join("/"))

/** Paths none of which is a directory on the way to another. */
const tree = fc
  .uniqueArray(file, { minLength: 1, maxLength: 12 })
  .map((paths) => paths.filter((path) => !paths.some((other) => other.startsWith(`${path}/`))))

describe("pages of a listing", () => {
  it("give what the whole listing gives, level by level and sorted within a directory", async () => {
    await fc.assert(
      fc.asyncProperty(tree, fc.integer({ min: 1, max: 5 }), fc.nat({ max: 4 }), async (paths, limit, depth) => {
        await using tools = await openTools(Object.fromEntries(paths.map((path) => [path, ""])), {
          dialect: toolrouter
        })
        const list = async (params: object) =>
          ((await tools.call("list_dir", { path: ".", depth, ...params })) as { entries: Array<string> }).entries
        const whole = await list({ limit: 1000 })
        const pages: Array<string> = []
        for (let offset = 0; offset <= whole.length; offset += limit) pages.push(...(await list({ offset, limit })))
        expect(pages).toEqual(whole)
        expect(whole).toEqual(breadthFirst(paths, depth))
      }),
      { numRuns: 30, seed: 1 }
    )
  })

  it("give what the whole listing gives, in the order of the paths", async () => {
    await fc.assert(
      fc.asyncProperty(tree, fc.integer({ min: 1, max: 5 }), fc.nat({ max: 4 }), async (paths, page_size, depth) => {
        await using tools = await openTools(Object.fromEntries(paths.map((path) => [path, ""])))
        const list = async (params: object) =>
          (await tools.call("list_dir", { depth, ...params })) as {
            result: { entries: Array<{ path: string }>; more: boolean }
          }
        const pages: Array<string> = []
        for (let page = 1, more = true; more; page++) {
          const { result } = await list({ page, page_size })
          pages.push(...result.entries.map(({ path }) => path))
          more = result.more
        }
        const expected = entriesOf(paths).filter((path) => path.split("/").length <= depth + 1)
        expect(pages).toEqual(expected.toSorted())
      }),
      { numRuns: 30, seed: 1 }
    )
  })
})

/** Every file and every directory on the way to one. */
const entriesOf = (paths: ReadonlyArray<string>): ReadonlyArray<string> => [
  ...new Set(paths.flatMap((path) => path.split("/").map((_, index, names) => names.slice(0, index + 1).join("/"))))
]

/** The slow way: entries by their depth, then by the places of their directories, then by name. */
const breadthFirst = (paths: ReadonlyArray<string>, depth: number): ReadonlyArray<string> => {
  const compare = (one: string, other: string): number => {
    const [first, second] = [one.split("/"), other.split("/")]
    if (first.length !== second.length) return first.length - second.length
    const at = first.findIndex((part, index) => part !== second[index])
    return at === -1 ? 0 : (first[at] ?? "") < (second[at] ?? "") ? -1 : 1
  }
  return entriesOf(paths)
    .filter((path) => path.split("/").length <= depth + 1)
    .toSorted(compare)
    .map((path) => (paths.includes(path) ? path : `${path}/`))
}

describe("entries that can't be looked at", () => {
  const lookAt = (paths: ReadonlyArray<string>) => {
    using workspace = temporaryWorkspace({ "d/seen": "" })
    return Effect.runPromise(
      Effect.gen(function* () {
        const real = yield* Workspace
        const info: typeof real.info = (path, options) =>
          path.endsWith("closed") ? toolError("permission_denied", `${path} is closed`) : real.info(path, options)
        return yield* withInfo("d", paths).pipe(Effect.provideService(Workspace, { ...real, info }))
      }).pipe(
        Effect.map((entries) => entries.map(({ path }) => path)),
        Effect.catch((error) => Effect.succeed(error.code)),
        Effect.provide(nodeWorkspace({ root: workspace.root, state: workspace.state }))
      )
    )
  }

  it("are left out beside others, and are the answer when there are no others", async () => {
    expect(await lookAt(["closed", "seen", "gone"])).toEqual(["seen"])
    expect(await lookAt(["gone"])).toEqual([])
    expect(await lookAt(["closed", "gone"])).toBe("permission_denied")
  })
})
