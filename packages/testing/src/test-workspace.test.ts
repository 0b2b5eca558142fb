import { memoryWorkspace, Workspace, type WorkspaceService } from "@haft/core"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { describe, expect, it } from "vitest"

import { testWorkspace } from "./test-workspace.ts"

describe("the workspace in memory", () => {
  testWorkspace({ it, knows: [], workspace: memoryWorkspace })
})

describe("a workspace that breaks a promise", () => {
  const breaks: ReadonlyArray<readonly [string, Partial<WorkspaceService>]> = [
    ["lets paths out", { contain: (path) => Effect.succeed(path) }],
    ["reads something else", { read: () => Effect.succeed(new TextEncoder().encode("other")) }],
    ["forgets what is written", { commit: () => Effect.succeed([]) }]
  ]
  it.each(breaks)("is caught when it %s", async (_title, broken) => {
    const checks: Array<() => Promise<void>> = []
    testWorkspace({
      it: (_check, test) => void checks.push(test),
      knows: [],
      workspace: (files) =>
        Layer.effect(
          Workspace,
          Workspace.useSync((kept) => ({ ...kept, ...broken }))
        ).pipe(Layer.provide(memoryWorkspace(files)))
    })
    const outcomes = await Promise.allSettled(checks.map((check) => check()))
    expect(outcomes.map(({ status }) => status)).toContain("rejected")
  })
})
