import { readFileSync } from "node:fs"
import { createRequire } from "node:module"
import { dirname, join } from "node:path"

import { languageNamed, type LanguageName } from "./language.ts"

/** The part of a tree-sitter node that the index reads. */
export interface SyntaxNode {
  readonly type: string
  readonly text: string
  readonly startIndex: number
  readonly endIndex: number
  readonly startPosition: { readonly row: number }
  readonly endPosition: { readonly row: number; readonly column: number }
  readonly namedChildren: ReadonlyArray<SyntaxNode | null>
  readonly childForFieldName: (name: string) => SyntaxNode | null
}

// Written down here, because the package is optional: who has it not can still compile against this one.
interface TreeSitter {
  readonly Parser: (new () => Parser) & { readonly init: () => Promise<void> }
  readonly Language: { readonly load: (grammar: Uint8Array) => Promise<unknown> }
}
interface Parser {
  readonly setLanguage: (language: unknown) => Parser
  readonly parse: (source: string, old: null, options: { readonly progressCallback: () => boolean }) => Tree | null
  readonly reset: () => void
}
interface Tree {
  readonly rootNode: SyntaxNode
  readonly delete: () => void
}

/** Parses a source with the grammar of a language. The tree is freed when `use` returns. */
export type Parse = <A>(source: string, use: (root: SyntaxNode) => A) => A | undefined

/** Grammars that are loaded when the first file in their language comes. */
export interface Grammars {
  /** Undefined where the grammar can't be loaded. */
  readonly load: (language: LanguageName) => Promise<Parse | undefined>
}

/** A source that takes longer is data in the shape of a program, and is indexed by lines. */
const mostParseMs = 2000

let opened: Promise<Grammars | undefined> | undefined

/**
 * The installed grammars, or undefined where the optional package `@vscode/tree-sitter-wasm` is not installed. All
 * indexes of a process share them.
 */
export const openGrammars = (): Promise<Grammars | undefined> => (opened ??= openInstalled())

const openInstalled = async (): Promise<Grammars | undefined> => {
  const found = installed()
  if (found === undefined) return undefined
  const { treeSitter, directory } = found
  await treeSitter.Parser.init()
  const parsers = new Map<string, Promise<Parse | undefined>>()
  const open = async (grammar: string): Promise<Parse | undefined> => {
    try {
      const language = await treeSitter.Language.load(readFileSync(join(directory, `tree-sitter-${grammar}.wasm`)))
      return parseWith(new treeSitter.Parser().setLanguage(language))
    } catch {
      return undefined
    }
  }
  return {
    load: (name) => {
      const { grammar } = languageNamed(name)
      const parser = parsers.get(grammar) ?? open(grammar)
      parsers.set(grammar, parser)
      return parser
    }
  }
}

/** True where the grammars are installed. Loads none of them. */
export const hasGrammars = (): boolean => grammarsPath() !== undefined

const own = createRequire(import.meta.url)

const grammarsPath = (): string | undefined => {
  try {
    return own.resolve("@vscode/tree-sitter-wasm")
  } catch {
    return undefined
  }
}

const installed = () => {
  const path = grammarsPath()
  return path === undefined ? undefined : { treeSitter: own(path) as TreeSitter, directory: dirname(path) }
}

const parseWith =
  (parser: Parser): Parse =>
  (source, use) => {
    const until = performance.now() + mostParseMs
    const tree = parser.parse(source, null, { progressCallback: () => performance.now() > until })
    if (tree === null) {
      parser.reset()
      return undefined
    }
    try {
      return use(tree.rootNode)
    } finally {
      tree.delete()
    }
  }
