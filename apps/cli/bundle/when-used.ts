/**
 * A schema that is made when somebody looks at it. zod reaches everything of a schema through its properties, so one
 * that is not made yet can be part of others. The first look makes it what it stands for, so that all later ones find
 * an object like any other: behind a proxy each of them would take many times as long.
 */
export const whenUsed = <A extends object>(make: () => A): A => {
  const schema = {} as A
  const become = (): A => {
    const made = make()
    Object.setPrototypeOf(schema, Object.getPrototypeOf(made) as object)
    return Object.defineProperties(schema, Object.getOwnPropertyDescriptors(made))
  }
  return Object.setPrototypeOf(
    schema,
    new Proxy(Object.prototype, {
      get: (_, key) => Reflect.get(become(), key) as unknown,
      set: (_, key, value) => Reflect.set(become(), key, value),
      has: (_, key) => Reflect.has(become(), key)
    })
  ) as A
}
