import { homedir, tmpdir } from "node:os"

import { Sandbox } from "@haft/core"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"

import { environmentFor } from "./environment.ts"

/** No isolation at all, by explicit choice: a command starts in the workspace and can do what the host's user can. */
export const noSandbox = (options: { readonly environment?: ReadonlyArray<string> } = {}): Layer.Layer<Sandbox> =>
  Layer.succeed(Sandbox, {
    wrap: (command, request = {}) =>
      Effect.sync(() => ({
        ...command,
        env: environmentFor(command.env, request, {
          names: options.environment ?? [],
          home: homedir(),
          temporary: tmpdir()
        })
      })),
    describe: Effect.succeed({
      kind: "none",
      isolated: false,
      enforced: ["the time limit", "the whole process tree ends with the call or the host"],
      noOverlay: "the sandbox none has no overlays",
      notEnforced: ["network", "files", "memory", "processes", "everything else"].map((limit) => ({ limit }))
    })
  })
