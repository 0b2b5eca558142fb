import type { Command } from "@haft/core"
import * as Effect from "effect/Effect"

import { launchOf, withLaunch } from "../../process/prepared-launch.ts"
import type { Mount } from "../paths.ts"

/**
 * Which places in the workspace are mounts in every sandbox that runs. Nobody in there can put anything else into such a
 * place. One that came to be meanwhile, with `git init` for one, can become a link to anywhere while the next sandbox is
 * laid out, and what lays it out follows links: then a mount would bring in what is outside. So it is no mount there
 * either; a running command can change it anyway.
 */
export class HeldPlaces {
  readonly #running = new Set<ReadonlySet<string>>()

  readonly has = (path: string): boolean => [...this.#running].every((places) => places.has(path))

  /** Counts a command as running until it ends. */
  during(command: Command, mounts: ReadonlyArray<Mount>): Command {
    const places = new Set(mounts.map(({ path }) => path))
    this.#running.add(places)
    const leave = Effect.sync(() => this.#running.delete(places))
    return withLaunch(command, { afterEnd: Effect.andThen(launchOf(command).afterEnd ?? Effect.void, leave) })
  }
}
