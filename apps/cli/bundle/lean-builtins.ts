import type { Plugin } from "rolldown"

// Loading one of these takes milliseconds, and most calls never come to the function they were imported for.
const heavy = new Set(
  [
    "child_process",
    "crypto",
    "dns/promises",
    "fs/promises",
    "net",
    "readline",
    "timers/promises",
    "worker_threads",
    "zlib"
  ].map((name) => `node:${name}`)
)

/**
 * Takes Node's own modules without `import`. An import of `node:util` reads everything it exports to make a namespace,
 * and with that loads streams, workers and more; asking for the module itself loads the module alone. The functions and
 * constants of a heavy one load it when they are used.
 */
export const leanBuiltins: Plugin = {
  name: "lean-builtins",
  resolveId: {
    filter: { id: /^node:/ },
    // One for each importer, or what a single one of them uses would be loaded for all.
    handler: (id, importer = "", { kind }) =>
      kind === "import-statement" && !/\/bin\.ts$|rolldown/.test(importer) ? `\0lean-${id}?${importer}` : null
  },
  load: {
    filter: { id: /^\0lean-node:/ },
    handler: (id) => {
      const name = id.slice("\0lean-".length, id.indexOf("?"))
      const builtin = process.getBuiltinModule(name) as Readonly<Record<string, unknown>>
      const exported = Object.keys(builtin).filter((key) => /^[A-Za-z_$][\w$]*$/.test(key))
      const wayTo = (key: string): Way => (heavy.has(name) ? wayToHeavy(key, builtin[key]) : "now")
      return { moduleSideEffects: false, code: exporting(name, exported, wayTo) }
    }
  }
}

type Way = "now" | "called" | "proxy"

// A function that is only ever called is a plain one: those of `node:crypto` are called several times in every call. What
// may be constructed, extended or asked for properties stands behind a proxy, which is all of that, and slower.
const wayToHeavy = (key: string, value: unknown): Way => {
  if (key === "constants") return "proxy"
  if (typeof value !== "function") return "now"
  const more = Reflect.ownKeys(value).filter((own) => !["length", "name", "prototype"].includes(String(own)))
  return /^[a-z]/.test(key) && more.length === 0 ? "called" : "proxy"
}

const exporting = (name: string, exported: ReadonlyArray<string>, wayTo: (key: string) => Way): string => `
const builtin = () => process.getBuiltinModule("${name}")
const now = (key) => builtin()[key]
const called = (key) => {
  let its
  return (...args) => (its ??= builtin()[key])(...args)
}
const proxy = (key) => new Proxy(function () {}, {
  apply: (_, self, args) => Reflect.apply(builtin()[key], self, args),
  construct: (_, args, target) => Reflect.construct(builtin()[key], args, target),
  get: (_, property) => builtin()[key][property]
})
export default /* @__PURE__ */ builtin()
${exported.map((key) => `const its_${key} = /* @__PURE__ */ ${wayTo(key)}("${key}")`).join("\n")}
export { ${exported.map((key) => `its_${key} as ${key}`).join(", ")} }`
