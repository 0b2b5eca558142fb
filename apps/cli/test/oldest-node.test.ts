import { globSync, readFileSync } from "node:fs"
import { join } from "node:path"

import { parseSync, Visitor } from "rolldown/utils"
import { expect, it } from "vitest"

import { directory } from "./build.ts"

it("is written in words that the oldest Node it names can read", () => {
  const chunks = globSync("*.js", { cwd: directory })
  const declarations = chunks.flatMap((chunk) => {
    const kinds = new Set<string>()
    const { program } = parseSync(chunk, readFileSync(join(directory, chunk), "utf8"))
    new Visitor({ VariableDeclaration: ({ kind }) => void kinds.add(kind) }).visit(program)
    return [...kinds].map((kind) => `${chunk}: ${kind}`)
  })
  expect(declarations.length).toBeGreaterThan(chunks.length)
  // Node 22 has no `using`, and a file with one is not read at all.
  expect(declarations.filter((declaration) => declaration.endsWith("using"))).toEqual([])
})
