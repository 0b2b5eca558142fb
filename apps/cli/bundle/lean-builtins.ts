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
      const isLazy = (key: string): boolean =>
        heavy.has(name) && (key === "constants" || typeof builtin[key] === "function")
      return { moduleSideEffects: false, code: exporting(name, exported, isLazy) }
    }
  }
}

// A proxy of a function is called, constructed, extended and asked for its properties as the function would be.
const exporting = (name: string, exported: ReadonlyArray<string>, isLazy: (key: string) => boolean): string => `
const builtin = () => process.getBuiltinModule("${name}")
const lazy = (key) => new Proxy(function () {}, {
  apply: (_, self, args) => Reflect.apply(builtin()[key], self, args),
  construct: (_, args, target) => Reflect.construct(builtin()[key], args, target),
  get: (_, property) => builtin()[key][property]
})
const now = (key) => builtin()[key]
export default /* @__PURE__ */ builtin()
${exported.map((key) => `const its_${key} = /* @__PURE__ */ ${isLazy(key) ? "lazy" : "now"}("${key}")`).join("\n")}
export { ${exported.map((key) => `its_${key} as ${key}`).join(", ")} }`
