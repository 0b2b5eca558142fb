import * as Layer from "effect/Layer"
import type * as z from "zod"

import { CommandMemory } from "./last-command/last-command.ts"
import { execConfig, ExecSettings } from "./settings.ts"

/** What the operations of this package need and the host does not lend. */
export const execServices = (config?: z.input<typeof execConfig>): Layer.Layer<ExecSettings | CommandMemory> =>
  Layer.merge(
    Layer.sync(ExecSettings, () => execConfig.parse(config)),
    CommandMemory.layer
  )
