import { resolve } from "node:path"

import type { Plugin } from "rolldown"
import { type ESTree, parseSync, Visitor } from "rolldown/utils"

/**
 * Delays making zod schemas until they are first used. A call needs the schemas of one tool, a host those of one
 * dialect, and an MCP session a dozen of the SDK's four hundred; making all of them is most of the cost of loading
 * these packages.
 */
export const lazySchemas: Plugin = {
  name: "lazy-schemas",
  transform: {
    filter: { id: [/packages\/[\w-]+\/src\/.*\.ts$/, /@modelcontextprotocol\/(core|server)\/dist\/.*\.mjs$/] },
    handler: (code, id) => {
      const edits: Array<Edit> = []
      const { program } = parseSync(id, code)
      new Visitor({
        CallExpression: (call) => edits.push(...schemasOfTool(call)),
        VariableDeclarator: ({ id: name, init }) => edits.push(...schemaNamed(name, init)),
        Property: ({ key, value }) => edits.push(...schemaNamed(key, value))
      }).visit(program)
      edits.push(...program.body.flatMap(schemasOfModule))
      if (edits.length === 0) return null
      const edited = edits
        .toSorted((one, other) => other.at - one.at)
        .reduce(
          (text, { at, text: inserted, replaces = 0 }) => text.slice(0, at) + inserted + text.slice(at + replaces),
          code
        )
      // All edits stay within their lines, so the line numbers in stack traces stay right.
      return { code: `import { whenUsed } from ${JSON.stringify(whenUsed)};${edited}`, map: null }
    }
  }
}

const whenUsed = resolve(import.meta.dirname, "when-used.ts")

interface Edit {
  readonly at: number
  readonly text: string
  /** How many characters it replaces. */
  readonly replaces?: number
}

// `input` and `output` of a `dialect.tool({ … })` become getters, which replace themselves with the schema when read.
const schemasOfTool = ({ callee, arguments: [definition] }: ESTree.CallExpression): ReadonlyArray<Edit> => {
  const isTool = callee.type === "MemberExpression" && !callee.computed && callee.property.name === "tool"
  if (!isTool || definition?.type !== "ObjectExpression") return []
  return definition.properties.flatMap((property) => {
    if (property.type !== "Property" || property.key.type !== "Identifier") return []
    const { start, end, key, value, shorthand } = property
    if (key.name !== "input" && key.name !== "output") return []
    const head = {
      at: start,
      text: `get ${key.name}() { const value = `,
      replaces: shorthand ? 0 : value.start - start
    }
    const tail = `; Object.defineProperty(this, "${key.name}", { value }); return value }`
    return [head, { at: end, text: tail }]
  })
}

// In the MCP SDK every schema is called `SomethingSchema`, also those inside of objects.
const schemaNamed = (name: ESTree.Node, value: ESTree.Node | null): ReadonlyArray<Edit> =>
  name.type === "Identifier" && isNameOfSchema.test(name.name) && value?.type === "CallExpression" ? waiting(value) : []

const isNameOfSchema = /^[A-Z]\w*Schema(\$\d+)?$/

// In our own packages schemas have any name, but are top-level constants: `const entry = z.string()`.
const schemasOfModule = (statement: ESTree.Node): ReadonlyArray<Edit> => {
  if (statement.type === "ExportNamedDeclaration" && statement.declaration !== null)
    return schemasOfModule(statement.declaration)
  if (statement.type !== "VariableDeclaration") return []
  return statement.declarations.flatMap(({ id: name, init }) => {
    if (name.type !== "Identifier" || isNameOfSchema.test(name.name) || init?.type !== "CallExpression") return []
    return isMadeByZod(init) ? waiting(init) : []
  })
}

const isMadeByZod = (node: ESTree.Node): boolean => {
  if (node.type === "CallExpression") return isMadeByZod(node.callee)
  if (node.type === "MemberExpression") return isMadeByZod(node.object)
  return node.type === "Identifier" && node.name === "z"
}

const waiting = ({ start, end }: ESTree.Node): ReadonlyArray<Edit> => [
  { at: start, text: "/* @__PURE__ */ whenUsed(() => " },
  { at: end, text: ")" }
]
