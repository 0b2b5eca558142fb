import { type Processes, Sandbox, withoutOverlay, type Workspace } from "@haft/core"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"

import { cachedSuccess, unavailable } from "./probe.ts"

export type SandboxLayer = Layer.Layer<Sandbox, never, Workspace | Processes>

/** The first of these that really runs a command, found with the first one. Together they are called `kind`. */
export const firstThatWorks = (kind: string, candidates: ReadonlyArray<SandboxLayer>): SandboxLayer =>
  Layer.effect(
    Sandbox,
    Effect.gen(function* () {
      const services = yield* Effect.forEach(candidates, (candidate) =>
        Effect.map(Layer.build(candidate), (context) => Context.get(context, Sandbox))
      )
      const chosen = yield* cachedSuccess(
        Effect.gen(function* () {
          const reasons: Array<string> = []
          for (const service of services) {
            const description = yield* Effect.result(service.describe)
            if (description._tag === "Success") return service
            reasons.push(description.failure.message)
          }
          return yield* unavailable(kind, reasons.join("; "))
        })
      )
      return {
        wrap: (command, request) => Effect.flatMap(chosen, (service) => service.wrap(command, request)),
        describe: Effect.flatMap(chosen, (service) => service.describe),
        overlay: Effect.flatMap(chosen, (service) => service.overlay ?? withoutOverlay)
      }
    })
  )
