import type { CurrentCall } from "@haft/core"

import { openPlace, openResolved, type Place, releasePlace, type Root, withPlace } from "./contain.ts"

type CallContext = typeof CurrentCall.Service

/**
 * What the last path that was resolved leads to, held until this turn of the event loop ends. The road resolves what a
 * call reads to judge it, and the call reads it right after: what was judged, then, and without another walk.
 */
export class KeptPlace {
  readonly #root: Root
  #kept: { readonly call: CallContext; readonly given: string; readonly place: Place } | undefined
  #isLettingGo = false

  constructor(root: Root) {
    this.#root = root
  }

  /** Resolves a path under the call's link policy, and keeps what it leads to for the same call. */
  resolve(call: CallContext, given: string): string {
    this.forget()
    // Without a call there is no telling how long somebody goes on.
    if (call.run === undefined) return withPlace(this.#root, given, call, ({ path }) => path)
    const place = openPlace(this.#root, given, call)
    // What is not there, or is only known by its name, can't be held: it may be there, or another, in a moment.
    if (place.found?.lookAgain === undefined) {
      releasePlace(this.#root, place)
      return place.path
    }
    this.#kept = { call, given, place }
    if (!this.#isLettingGo) setImmediate(() => this.#letGo())
    this.#isLettingGo = true
    return place.path
  }

  /** What was kept, for once; whoever takes it releases it. */
  take(call: CallContext, given: string): Place | undefined {
    const kept = this.#kept
    if (kept === undefined || kept.call !== call || kept.given !== given) return undefined
    // It may have grown meanwhile. If it has no name any more, it was replaced: by what stands where it was judged.
    if (kept.place.found?.lookAgain?.().nlink === 0) {
      this.forget()
      return { ...openResolved(this.#root, kept.place.path), given }
    }
    this.#kept = undefined
    return kept.place
  }

  #letGo(): void {
    this.#isLettingGo = false
    this.forget()
  }

  forget(): void {
    const kept = this.#kept
    this.#kept = undefined
    if (kept !== undefined) releasePlace(this.#root, kept.place)
  }
}
