import { globSync, readFileSync } from "node:fs"
import { dirname, join } from "node:path"

import { expect, test } from "vitest"

const root = dirname(import.meta.dirname)

interface Entry {
  readonly package: string
  readonly specifier: string
  readonly values: ReadonlyArray<string>
  readonly count: number
}

/** The public entry points, from the generated page that CI compares with the code. */
const entries = (): ReadonlyArray<Entry> =>
  readFileSync(join(root, "docs/public-names.md"), "utf8")
    .split(/^## /m)
    .slice(1)
    .flatMap((section) => {
      const [name = "", ...parts] = section.split(/^### /m)
      return parts.map((part) => ({
        package: name.trim(),
        specifier: /`(.+?)`/.exec(part)?.[1] ?? "",
        values: [...(/^- values: (.*)$/m.exec(part)?.[1] ?? "").matchAll(/`(\w+)`/g)].map(([, value = ""]) => value),
        count: Number(/\((\d+)\)/.exec(part)?.[1])
      }))
    })

const readers = globSync(
  ["{packages,apps,examples,bench,stress,scripts}/**/*.{ts,tsx,md}", "docs/{guides,decisions}/*.md"],
  {
    cwd: root,
    exclude: (name) => /(^|\/)(node_modules|dist|CHANGELOG\.md)$/.test(name)
  }
).map((file) => ({ file, text: readFileSync(join(root, file), "utf8") }))

const directories = new Map(
  globSync("packages/*/package.json", { cwd: root }).map((file) => [
    (JSON.parse(readFileSync(join(root, file), "utf8")) as { readonly name: string }).name,
    dirname(file)
  ])
)

test("every function, class and schema that a package exports is used or described outside its sources", () => {
  const isUsed = ({ package: name, specifier }: Entry, value: string): boolean =>
    readers.some(({ file, text }) => {
      if (file.startsWith(`${directories.get(name)}/src/`)) return false
      return (
        text.includes(value) &&
        new RegExp(`\\b${value}\\b`).test(text) &&
        (file.endsWith(".md") || text.includes(`"${specifier}`))
      )
    })
  // Operations are for dialects of other packages too, so the subpath has all of them.
  const checked = entries().filter(({ specifier }) => !specifier.endsWith("/operations"))
  const unused = checked.flatMap((entry) =>
    entry.values
      // Errors are what functions fail with, and followedRelease is the version that a dialect's package follows.
      .filter((value) => value !== "default" && value !== "followedRelease" && !value.endsWith("Error"))
      .filter((value) => !isUsed(entry, value))
      .map((value) => `${entry.specifier} ${value}`)
  )
  expect(unused).toEqual([])
})

test("the root of haft stays small", () => {
  expect(entries().find(({ specifier }) => specifier === "haft")?.count).toBeLessThanOrEqual(27)
})
