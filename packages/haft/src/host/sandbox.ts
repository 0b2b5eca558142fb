import { type Processes, Sandbox, withoutOverlay, type Workspace } from "@haft/core"
import {
  autoSandbox,
  bubblewrapSandbox,
  type ContainerOptions,
  containerSandbox,
  noSandbox,
  seatbeltSandbox,
  unshareSandbox
} from "@haft/node"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"

import type { SandboxName } from "../config/config.ts"

type SandboxLayer = Layer.Layer<Sandbox, never, Workspace | Processes>

/** The sandbox of that name. One that does not work on this machine refuses every command, with the reason. */
export const sandboxNamed = (name: SandboxName, options: ContainerOptions = {}): SandboxLayer =>
  onFirstUse(sandboxes[name](options))

const sandboxes: Readonly<Record<SandboxName, (options: ContainerOptions) => SandboxLayer>> = {
  auto: autoSandbox,
  bubblewrap: bubblewrapSandbox,
  docker: containerSandbox,
  seatbelt: seatbeltSandbox,
  unshare: unshareSandbox,
  none: noSandbox
}

// Setting a sandbox up takes longer than most calls, so it is done for the first command.
const onFirstUse = (layer: SandboxLayer): SandboxLayer =>
  Layer.effect(
    Sandbox,
    Effect.gen(function* () {
      const scope = yield* Effect.scope
      const services = yield* Effect.context<Workspace | Processes>()
      const sandbox = yield* Effect.cached(
        Layer.buildWithScope(layer, scope).pipe(
          Effect.provideContext(services),
          Effect.map((built) => Context.get(built, Sandbox))
        )
      )
      return {
        wrap: (command, request) => Effect.flatMap(sandbox, ({ wrap }) => wrap(command, request)),
        describe: Effect.flatMap(sandbox, ({ describe }) => describe),
        overlay: Effect.flatMap(sandbox, ({ overlay = withoutOverlay }) => overlay)
      }
    })
  )
