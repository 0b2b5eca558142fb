import { openPlace, type Place, releasePlace, type ResolveOptions, type Root } from "./contain.ts"

/**
 * The last place that a path was resolved to, held until this turn of the event loop ends. The road resolves what a call
 * reads to judge it, and the tool reads it right after: the same thing then, and not one walk more.
 */
export class KeptPlace {
  readonly #root: Root
  #kept: { readonly given: string; readonly options: ResolveOptions; readonly place: Place } | undefined
  #later: NodeJS.Immediate | undefined

  constructor(root: Root) {
    this.#root = root
  }

  /** Resolves a path, and keeps what it leads to. */
  resolve(given: string, options: ResolveOptions): string {
    const place = this.#take(given, options) ?? openPlace(this.#root, given, options)
    this.forget()
    this.#kept = { given, options, place }
    this.#later ??= setImmediate(() => {
      this.#later = undefined
      this.forget()
    })
    return place.path
  }

  /** Hands over what a path leads to, held for as long as `use` runs. */
  use<A>(given: string, options: ResolveOptions, use: (place: Place) => A): A {
    const place = this.#take(given, options) ?? openPlace(this.#root, given, options)
    try {
      return use(place)
    } finally {
      releasePlace(this.#root, place)
    }
  }

  forget(): void {
    const kept = this.#kept
    this.#kept = undefined
    if (kept !== undefined) releasePlace(this.#root, kept.place)
  }

  #take(given: string, { symlinks, follow = true }: ResolveOptions): Place | undefined {
    const kept = this.#kept
    if (kept?.given !== given || kept.options.symlinks !== symlinks || (kept.options.follow ?? true) !== follow) {
      return undefined
    }
    this.#kept = undefined
    return kept.place
  }
}
