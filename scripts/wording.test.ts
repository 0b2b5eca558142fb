import { globSync, readFileSync } from "node:fs"
import { dirname, join } from "node:path"

import { expect, test } from "vitest"

const root = dirname(import.meta.dirname)
const sources = ["{apps,packages,bench,stress,scripts,examples}/**/*.{ts,tsx,mjs}"]
const documents = ["*.md", "docs/**/*.md", "{apps,packages,bench,stress,examples}/**/*.md"]

/** Places where an expression matches, as `file:line text`. */
const placesOf = (patterns: ReadonlyArray<string>, expression: RegExp): ReadonlyArray<string> => {
  const exclude = (name: string) => /(^|\/)(node_modules|dist|goldens|fixtures|CHANGELOG\.md)$/.test(name)
  const files = globSync([...patterns], { cwd: root, exclude })
  expect(files.length).toBeGreaterThan(20)
  return files
    .filter((file) => !/(^|\/)(node_modules|dist|\.cache)\//.test(file) && !file.endsWith("wording.test.ts"))
    .flatMap((file) => {
      const text = readFileSync(join(root, file), "utf8")
      return [...text.matchAll(expression)].map(({ index, 0: found }) => {
        const line = text.slice(0, index).split("\n").length
        return `${file}:${line} ${found.replace(/\s+/g, " ").trim()}`
      })
    })
}

test("doc comments begin with a noun phrase or an active verb, and stand alone in a hover", () => {
  expect(placesOf(sources, /\/\*\*\s+(?:\*\s+)?(?:The same|What|Whether|Who)\b.*/g)).toEqual([])
})

test("line comments name their subject", () => {
  const beginning = /(?<!\/\/[^\n]*\n\s*)\/\/ (?:What|Whether|Who)\b.*/g
  expect(placesOf(sources, beginning)).toEqual([])
})

test("code and documents use American spelling", () => {
  const british =
    /\b\w*(?:colour|behaviour|favour|honour|neighbour|serialis|normalis|recognis|organis(?!m)|initialis|optimis(?!t|m)|summaris|generalis|minimis(?!t|m)|synchronis|authoris|catalogue|licence|travell)\w*/gi
  expect(placesOf([...sources, ...documents], british)).toEqual([])
})

test("an exported type name is declared once, so that it means one thing", () => {
  // The console is left out: it describes the server's JSON, under the names that the JSON has elsewhere.
  const declared = placesOf(
    ["packages/*/src/**/*.ts", "apps/{cli,server}/src/**/*.ts"],
    /^export (?:interface|type|class) \w+/gm
  )
    .filter((place) => !place.includes(".test.ts:"))
    .map((place) => ({ name: place.split(" ").at(-1) ?? "", place }))
  const places = Map.groupBy(declared, ({ name }) => name)
  expect(
    [...places.values()].filter((found) => found.length > 1).flatMap((found) => found.map(({ place }) => place))
  ).toEqual([])
})

test("packages name settings in their messages, and leave the options of the command line to the command", () => {
  const options = /["'`][^"'`\n]*--(?:workspace|state|approve|config|dialect|profile|sandbox|mode)\b(?!\w|-)/g
  const places = placesOf(["packages/*/src/**/*.ts"], options).filter((place) => !place.includes(".test.ts:"))
  expect(places).toEqual([])
})

test("no file holds a merge conflict, also one that the formatter took for a quotation or a table", () => {
  const markers = /^(?:<{7}|\|{7}|>{7}) \S.*|^(?:> ){7}\S.*|^\| ={7} .*/gm
  expect(placesOf([...sources, ...documents, ".changeset/*.md"], markers)).toEqual([])
})
