import type { CurrentCall } from "@haft/core"

import { openPlace, openResolved, type Place, releasePlace, type Root, withPlace } from "./containment.ts"

type CallContext = typeof CurrentCall.Service

/**
 * Holds what the last resolved path leads to, until this turn of the event loop ends. The road resolves a path to judge
 * the call, and the call reads that path right after: so it reads exactly what was judged, and without a second walk.
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
    // Outside of a call nobody can tell whose place it would be.
    if (call.run === undefined) return withPlace(this.#root, given, call, ({ path }) => path)
    const place = openPlace(this.#root, given, call)
    // Nothing is there, or it is only known by its name: that may change at any moment, so there is nothing to hold.
    if (place.found?.lookAgain === undefined) {
      releasePlace(this.#root, place)
      return place.path
    }
    this.#kept = { call, given, place }
    if (!this.#isLettingGo) setImmediate(() => this.#letGo())
    this.#isLettingGo = true
    return place.path
  }

  /** Takes the cached entry; the caller releases it. */
  take(call: CallContext, given: string): Place | undefined {
    const kept = this.#kept
    if (kept === undefined || kept.call !== call || kept.given !== given) return undefined
    // Looked at again, because it may have grown. A file without a name was replaced meanwhile: what counts is what
    // stands at the judged path now.
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
