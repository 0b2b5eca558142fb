import * as Effect from "effect/Effect"

/**
 * Reads the patch of a call once: it is asked for to know what it touches, for its preview, and to apply it. What was
 * read stays for as long as the call's input does.
 */
export const readOnce = <Input extends object, A, E>(
  read: (input: Input) => Effect.Effect<A, E>
): ((input: Input) => Effect.Effect<A, E>) => {
  const known = new WeakMap<Input, A>()
  return (input) =>
    Effect.suspend(() => {
      const sections = known.get(input)
      if (sections !== undefined) return Effect.succeed(sections)
      return Effect.map(read(input), (sections) => {
        known.set(input, sections)
        return sections
      })
    })
}
