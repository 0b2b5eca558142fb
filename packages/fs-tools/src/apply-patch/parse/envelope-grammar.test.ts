import { readFileSync } from "node:fs"

import * as Effect from "effect/Effect"
import * as fc from "fast-check"
import { describe, expect, it } from "vitest"

import { isEnvelope, parseEnvelope } from "./parse-envelope.ts"

/** A piece of the grammar: each kind makes texts that fit it. */
type Part = fc.Arbitrary<string>

const source = readFileSync(new URL("envelope.grammar", import.meta.url), "utf8")
const rules = new Map(
  source
    .split("\n")
    .filter((line) => line !== "" && !line.startsWith("#"))
    .map((line) => {
      const [name = "", ...definition] = line.split("=")
      return [name.trim(), definition.join("=").trim()] as const
    })
)

const terminals: Record<string, Part> = {
  TEXT: fc.constantFrom("", "x = 1", "  indented", "*** stars", "@@ at", "+plus", "é → 😀", "trailing  "),
  PATH: fc.constantFrom("a.txt", "src/deep/b.ts", "with space.md", "ünï.txt"),
  NL: fc.constantFrom("\n", "\n", "\r\n")
}

/** Reads one rule's definition and makes sentences of it. */
class Definition {
  readonly #tokens: Array<string>
  constructor(definition: string) {
    this.#tokens = definition.match(/"[^"]*"|[A-Za-z]+|[()|?*+]/g) ?? []
  }
  choices(): Part {
    const choices = [this.#sequence()]
    while (this.#tokens[0] === "|") {
      this.#tokens.shift()
      choices.push(this.#sequence())
    }
    return fc.oneof(...choices)
  }
  #sequence(): Part {
    const parts: Array<Part> = []
    while (this.#tokens.length > 0 && this.#tokens[0] !== "|" && this.#tokens[0] !== ")") parts.push(this.#repeated())
    return fc.tuple(...parts).map((texts) => texts.join(""))
  }
  #repeated(): Part {
    const part = this.#one()
    const mark = this.#tokens[0]
    if (mark !== "?" && mark !== "*" && mark !== "+") return part
    this.#tokens.shift()
    const lengths = { "?": [0, 1], "*": [0, 3], "+": [1, 3] } as const
    const [minLength, maxLength] = lengths[mark]
    return fc.array(part, { minLength, maxLength }).map((texts) => texts.join(""))
  }
  #one(): Part {
    const token = this.#tokens.shift() ?? ""
    if (token.startsWith('"')) return fc.constant(token.slice(1, -1))
    if (token !== "(") return terminals[token] ?? sentences(token)
    const inner = this.choices()
    this.#tokens.shift()
    return inner
  }
}

const sentences = (rule: string): Part => {
  const definition = rules.get(rule)
  if (definition === undefined) throw new Error(`the grammar has no rule ${rule}`)
  return new Definition(definition).choices()
}

const parse = (patch: string) => Effect.runSync(Effect.result(parseEnvelope(patch)))

describe("envelope.grammar", () => {
  it("makes only patches that the parser reads", () => {
    fc.assert(
      fc.property(sentences("patch"), (patch) => {
        expect(isEnvelope(patch)).toBe(true)
        const parsed = parse(patch)
        expect(parsed._tag === "Success" ? "read" : `${parsed.failure.message}\n${patch}`).toBe("read")
      }),
      { numRuns: 1000, seed: 1 }
    )
  })

  it("has a rule for every section the parser makes", () => {
    const kinds = fc
      .sample(sentences("patch"), { numRuns: 300, seed: 1 })
      .map(parse)
      .flatMap((parsed) => (parsed._tag === "Success" ? parsed.success : []))
    expect(new Set(kinds.map(({ kind }) => kind))).toEqual(new Set(["add", "delete", "update"]))
    expect(kinds.some((section) => section.kind === "update" && section.target !== undefined)).toBe(true)
    const places = kinds
      .flatMap((section) => (section.kind === "update" ? section.hunks : []))
      .map(({ place }) => place)
    expect(places.some((place) => place.kind === "content" && place.anchors.length > 1)).toBe(true)
    expect(places.some((place) => place.kind === "content" && place.endsFile)).toBe(true)
  })

  it("is kept by the parser: a sentence cut short is refused", () => {
    fc.assert(
      fc.property(sentences("patch"), (patch) => {
        const cut = patch.slice(0, patch.lastIndexOf("*** End Patch"))
        expect(parse(cut)._tag).toBe("Failure")
      }),
      { numRuns: 200, seed: 1 }
    )
  })
})
