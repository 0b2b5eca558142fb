/**
 * A schema that is made when somebody looks at it. zod reaches everything of a schema through its properties, so one
 * that is not made yet can be part of others.
 */
export const whenUsed = <A extends object>(make: () => A): A => {
  let made: A | undefined
  const schema = (): A => (made ??= make())
  return new Proxy({} as A, {
    get: (_, key) => Reflect.get(schema(), key) as unknown,
    set: (_, key, value) => Reflect.set(schema(), key, value),
    has: (_, key) => Reflect.has(schema(), key)
  })
}
