import type { Parse, SyntaxNode } from "./grammars.ts"
import type { LanguageDefinition } from "./language.ts"

/** A definition, heading or window of lines in one file. Lines are 1-based and inclusive. */
export interface IndexedSection {
  /** Empty for a window of lines. */
  readonly name: string
  readonly kind: string
  readonly container: string
  readonly startLine: number
  readonly endLine: number
  readonly signature: string
  /** The comment above it, or the docstring inside. */
  readonly doc: string
}

/** Definitions in nested order; a class is followed by its members. Undefined where the source can't be parsed. */
export const parseSymbols = (
  language: LanguageDefinition,
  parse: Parse,
  source: string
): Array<IndexedSection> | undefined => {
  const lines = source.split("\n")
  return parse(source, (root) => {
    const found: Array<IndexedSection> = []
    collect({ language, lines, found }, root, { container: "", depth: 0 })
    return found
  })
}

interface Context {
  readonly language: LanguageDefinition
  readonly lines: ReadonlyArray<string>
  readonly found: Array<IndexedSection>
}

interface Surroundings {
  readonly container: string
  /** Nodes above, to stop at absurd nesting. */
  readonly depth: number
  /** First row of a wrapper, such as `export` or a decorator, that belongs to the definition. */
  readonly startRow?: number
}

const deepest = 40
/** More definitions than people write into one file: it is generated. */
const mostSymbols = 5000

/** Wrappers that belong to the definition inside them. */
const prefixes = ["export_statement", "decorated_definition", "template_declaration", "ambient_declaration"]

const collect = (context: Context, node: SyntaxNode, around: Surroundings): void => {
  const { language, found } = context
  if (around.depth > deepest) return
  for (const child of node.namedChildren) {
    if (child === null || found.length >= mostSymbols) continue
    const inner = { container: around.container, depth: around.depth + 1 }
    const kind = Object.hasOwn(language.definitions, child.type) ? language.definitions[child.type] : undefined
    if (kind !== undefined) define(context, child, kind, around)
    else if (prefixes.includes(child.type)) {
      collect(context, child, { ...inner, startRow: around.startRow ?? child.startPosition.row })
    } else if (language.wrappers.includes(child.type)) collect(context, child, inner)
  }
}

const define = (context: Context, node: SyntaxNode, kind: string, around: Surroundings): void => {
  const { lines, found } = context
  const named = nameOf(node)
  if (named === undefined) return insideOf(context, node, around.container, around.depth)
  const container = named.scope ?? around.container
  const startRow = around.startRow ?? node.startPosition.row
  const { row, column } = node.endPosition
  // A node that ends at the start of a line ended with the line before.
  const endRow = column === 0 && row > node.startPosition.row ? row - 1 : row
  found.push({
    name: named.name,
    kind: finalKind(node, kind, container),
    container,
    startLine: startRow + 1,
    endLine: endRow + 1,
    signature: signatureOf(node),
    doc: [commentAbove(lines, startRow), docstringOf(node)].filter((text) => text !== "").join("\n")
  })
  if (!isFunctionLike(node, kind)) insideOf(context, node, named.name, around.depth)
}

/** Goes into the body of a class or module, and into the object that a constant holds. */
const insideOf = (context: Context, node: SyntaxNode, container: string, depth: number): void => {
  const body = node.childForFieldName("body") ?? node.childForFieldName("value") ?? node.childForFieldName("type")
  if (body === null) return
  if (node.type === "variable_declarator" || node.type === "assignment") {
    if (body.type === "object") collect(context, body, { container, depth: depth + 1 })
    return
  }
  collect(context, body, { container, depth: depth + 1 })
}

const functionValues = ["arrow_function", "function_expression", "generator_function", "lambda"]

const isFunctionLike = (node: SyntaxNode, kind: string): boolean =>
  kind === "function" || kind === "method" || functionValues.includes(valueType(node))

const valueType = (node: SyntaxNode): string => node.childForFieldName("value")?.type ?? ""

const finalKind = (node: SyntaxNode, kind: string, container: string): string => {
  if (kind === "constant" && functionValues.includes(valueType(node))) return "function"
  if (kind === "function" && container !== "" && ["function_definition", "function_item"].includes(node.type))
    return "method"
  if (node.type === "type_spec") {
    const type = node.childForFieldName("type")?.type
    return type === "struct_type" ? "class" : type === "interface_type" ? "interface" : kind
  }
  return kind
}

interface Name {
  readonly name: string
  /** The class or namespace that the name itself says, as in `Parser::parse`. */
  readonly scope?: string
}

const nameOf = (node: SyntaxNode): Name | undefined => {
  switch (node.type) {
    case "function_definition":
    case "declaration":
    case "field_declaration":
    case "type_definition": {
      const declarator = node.childForFieldName("declarator")
      // Python, PHP and Bash have functions of the same node type, with a name.
      return declarator === null ? plainName(node) : declaredName(node, declarator)
    }
    case "assignment": {
      const left = node.childForFieldName("left")
      return left?.type === "identifier" ? { name: left.text } : undefined
    }
    case "impl_item": {
      const type = node.childForFieldName("type")
      return type === null ? undefined : { name: bareType(type.text) }
    }
    case "method_declaration": {
      const receiver = node.childForFieldName("receiver")
      const name = plainName(node)
      return receiver === null || name === undefined ? name : { ...name, scope: receiverType(receiver.text) }
    }
    default:
      return plainName(node)
  }
}

const plainName = (node: SyntaxNode): Name | undefined => {
  const name = node.childForFieldName("name")
  if (name === null || name.type.endsWith("_pattern")) return undefined
  return { name: name.text.replaceAll(/^["']|["']$/g, "").slice(0, 200) }
}

const bareType = (type: string): string => type.replace(/<.*$/s, "").trim().slice(0, 200)
const receiverType = (receiver: string): string => /(\w+)(?:\[[^\]]*\])?\s*\)$/.exec(receiver)?.[1] ?? ""

/** The name in a declarator of C or C++: `*parse(char *text)`, `Parser::parse(…)`. Variables have none. */
const declaredName = (node: SyntaxNode, declarator: SyntaxNode): Name | undefined => {
  let inner: SyntaxNode | null = declarator
  let isFunction = false
  for (let depth = 0; depth < deepest && inner !== null; depth++) {
    if (inner.type === "function_declarator") isFunction = true
    const next: SyntaxNode | null = inner.childForFieldName("declarator") ?? referenced(inner)
    if (next === null) break
    inner = next
  }
  if (inner === null || (!isFunction && node.type !== "type_definition")) return undefined
  const parts = inner.text.split("::")
  const name = (parts.at(-1) ?? "").trim().slice(0, 200)
  const scope = parts.at(-2)
  return name === "" ? undefined : { name, ...(scope !== undefined && scope !== "" && { scope: bareType(scope) }) }
}

const referenced = (node: SyntaxNode): SyntaxNode | null =>
  node.type === "reference_declarator" ? (node.namedChildren[0] ?? null) : null

/** The declaration on one line, up to its body. */
const signatureOf = (node: SyntaxNode): string => {
  const body = node.childForFieldName("body") ?? node.childForFieldName("value")?.childForFieldName("body") ?? null
  const text = body === null ? node.text.slice(0, 400) : node.text.slice(0, body.startIndex - node.startIndex)
  const head = body === null ? (text.split("\n", 1)[0] ?? "") : text
  return head
    .replaceAll(/\s+/g, " ")
    .replace(/[\s{=:>]+$/, "")
    .slice(0, 240)
}

const commentLine = /^\s*(?:\/\/|\/\*|\*|#(?!\s*(?:include|define|if|endif|pragma)\b)|--|;;|@\w|\[)/
/** Longer comments are licenses and essays. */
const mostCommentLines = 40

/** The comment that ends right above a row, without its markers. Attributes and decorators in between are skipped. */
const commentAbove = (lines: ReadonlyArray<string>, row: number): string => {
  let first = row
  while (first > 0 && row - first < mostCommentLines && commentLine.test(lines[first - 1] ?? "")) first--
  return lines
    .slice(first, row)
    .filter((line) => !/^\s*(?:@\w|\[)/.test(line))
    .map((line) =>
      line
        .replace(/^\s*(?:\/\/[/!]?|\/\*+|\*+\/?|#+!?|--|;+)\s?/, "")
        .replace(/\*+\/\s*$/, "")
        .trim()
    )
    .filter((line) => line !== "")
    .join("\n")
}

/** The docstring of a function or class in Python. */
const docstringOf = (node: SyntaxNode): string => {
  if (node.type !== "function_definition" && node.type !== "class_definition") return ""
  const first = node.childForFieldName("body")?.namedChildren[0]
  const string = first?.type === "expression_statement" ? first.namedChildren[0] : first
  if (string?.type !== "string") return ""
  return string.text
    .replaceAll(/^[rbuf]*("""|'''|"|')|("""|'''|"|')$/gi, "")
    .trim()
    .slice(0, 4000)
}
