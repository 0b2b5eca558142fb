import { type Processes, Sandbox, type Workspace } from "@haft/core"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"

import { bubblewrapSandbox } from "./bubblewrap.ts"
import { type ContainerOptions, containerSandbox } from "./docker.ts"
import { cachedSuccess, unavailable } from "./probe.ts"
import { seatbeltSandbox } from "./seatbelt.ts"
import { unshareSandbox } from "./unshare.ts"

type SandboxLayer = Layer.Layer<Sandbox, never, Workspace | Processes>

/** The strongest sandbox that works on this machine, found with the first command. Never none. */
export const autoSandbox = (options: ContainerOptions = {}): SandboxLayer =>
  firstThatWorks(
    process.platform === "linux"
      ? [bubblewrapSandbox(options), unshareSandbox(options), containerSandbox(options)]
      : [seatbeltSandbox(options), containerSandbox(options)]
  )

/** The first of these that really runs a command. */
export const firstThatWorks = (candidates: ReadonlyArray<SandboxLayer>): SandboxLayer =>
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
          return yield* unavailable("auto", reasons.join("; "))
        })
      )
      return {
        wrap: (command, request) => Effect.flatMap(chosen, (service) => service.wrap(command, request)),
        describe: Effect.flatMap(chosen, (service) => service.describe)
      }
    })
  )
