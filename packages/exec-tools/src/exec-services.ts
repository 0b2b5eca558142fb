import * as Layer from "effect/Layer"
import type * as z from "zod"

import { CommandMemory } from "./last-command/last-command.ts"
import { ManagedProcesses } from "./managed-processes/managed-processes.ts"
import { execConfig, ExecSettings } from "./settings.ts"
import { Shells } from "./shell/shells.ts"

/** Services that the operations of this package require and the host does not lend. */
export const execServices = (
  config?: z.input<typeof execConfig>
): Layer.Layer<ExecSettings | CommandMemory | Shells | ManagedProcesses> =>
  Layer.mergeAll(CommandMemory.layer, Shells.layer, ManagedProcesses.layer).pipe(
    Layer.provideMerge(Layer.sync(ExecSettings, () => execConfig.parse(config)))
  )
