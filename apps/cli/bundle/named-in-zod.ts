import type { Plugin } from "rolldown"

/**
 * `z.fromJSONSchema` spreads all exports of zod into one object, which takes milliseconds and keeps all of zod in the
 * bundle. It uses some fifty of them, so here the object gets only those.
 */
export const namedInZod: Plugin = {
  name: "named-in-zod",
  transform: {
    filter: { id: /zod\/v4\/classic\/from-json-schema\.js$/ },
    handler: (code) => {
      const gathered = /const z = \{\s*\.\.\._schemas,\s*\.\.\._checks,\s*iso: _iso,?\s*\};/
      if (!gathered.test(code)) throw new Error("zod gathers its names in another way than the bundle expects")
      // These are exported by both modules, and zod spreads the checks last.
      const checks = ["maxLength", "minLength", "regex"]
      const names = new Set([...code.matchAll(/\bz\.(\w+)/g)].map(([, name = ""]) => name))
      const given = [...names].map((name) => {
        if (name === "iso")
          return "iso: { date: _iso.date, datetime: _iso.datetime, duration: _iso.duration, time: _iso.time }"
        return `${name}: ${checks.includes(name) ? "_checks" : "_schemas"}.${name}`
      })
      return { code: code.replace(gathered, `const z = { ${given.join(", ")} };`), map: null }
    }
  }
}
