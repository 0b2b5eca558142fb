import type { Plugin } from "rolldown"

// Each takes milliseconds to load, and most calls never use the function it was imported for.
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
 * Loads Node's built-in modules with `process.getBuiltinModule` instead of `import`. An import of `node:util` reads all
 * of its exports, and the getters among them load streams, workers and more; `getBuiltinModule` loads only the module.
 * The modules in `heavy` are loaded when one of their functions is first called.
 */
export const leanBuiltins: Plugin = {
  name: "lean-builtins",
  resolveId: {
    filter: { id: /^node:/ },
    // A module for each importer: with a shared one, everything that any importer uses would be loaded for all.
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

// A plain wrapper will do for a function that can only be called, and is fast: those of `node:crypto` are used several
// times in every call. What may be constructed, extended or read from needs a proxy, which is slower.
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
