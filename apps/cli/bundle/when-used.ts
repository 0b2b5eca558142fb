/**
 * An object that becomes the schema `make` returns when one of its properties is first used. zod uses schemas only
 * through their properties, so one that is not made yet can already be part of others. The proxy is the prototype of an
 * empty object, and goes away with the first use: behind a proxy of its own, every use would take many times as long.
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
