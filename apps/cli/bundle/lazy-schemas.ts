import type { Plugin } from "rolldown"
import { parseSync, Visitor } from "rolldown/utils"

/**
 * Makes the schemas of a tool when they are first asked for. A call needs those of one tool, and a host those of one
 * dialect; making all of them is most of what loading a tool package costs.
 */
export const lazySchemas: Plugin = {
  name: "lazy-schemas",
  transform: {
    filter: { id: /packages\/[\w-]+-tools\/src\/.*\.ts$/, code: /\.tool\(\{/ },
    handler: (code, id) => {
      const edits: Array<{ readonly start: number; readonly end: number; readonly text: string }> = []
      new Visitor({
        CallExpression: ({ callee, arguments: [definition] }) => {
          const isTool = callee.type === "MemberExpression" && !callee.computed && callee.property.name === "tool"
          if (!isTool || definition?.type !== "ObjectExpression") return
          for (const property of definition.properties) {
            if (property.type !== "Property" || property.key.type !== "Identifier") continue
            const { start, end, key, value } = property
            if (key.name !== "input" && key.name !== "output") continue
            edits.push({ start, end, text: getter(key.name, code.slice(value.start, value.end)) })
          }
        }
      }).visit(parseSync(id, code).program)
      let edited = code
      for (const { start, end, text } of edits.toReversed()) edited = edited.slice(0, start) + text + edited.slice(end)
      // Nothing moves to another line, so traces stay right.
      return { code: edited, map: null }
    }
  }
}

const getter = (name: string, value: string): string =>
  `get ${name}() { const value = ${value}; Object.defineProperty(this, "${name}", { value }); return value }`
