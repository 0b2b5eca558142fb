/** A Markdown table. */
export const markdownTable = (head: ReadonlyArray<string>, rows: ReadonlyArray<ReadonlyArray<string>>): string => {
  const line = (cells: ReadonlyArray<string>) => `| ${cells.map(plainCell).join(" | ")} |`
  return [line(head), line(head.map(() => "---")), ...rows.map(line)].join("\n")
}

const plainCell = (cell: string): string => plainText(cell).replaceAll("|", "\\|")

/** Escapes stars, as in *.py, which would be emphasis in Markdown; inside of code they need no escape. */
export const plainText = (text: string): string =>
  text
    .split(/(`[^`]*`)/)
    .map((part) => (part.startsWith("`") ? part : part.replaceAll("*", "\\*")))
    .join("")

/** The type of a JSON Schema in a few words. */
export const typeOf = (schema: Readonly<Record<string, unknown>>): string => {
  if (Array.isArray(schema["enum"])) return schema["enum"].map((value) => `\`${JSON.stringify(value)}\``).join(" ")
  if ("const" in schema) return `\`${JSON.stringify(schema["const"])}\``
  const alternatives = (schema["anyOf"] ?? schema["oneOf"]) as ReadonlyArray<Record<string, unknown>> | undefined
  if (alternatives !== undefined) return [...new Set(alternatives.map(typeOf))].join(" or ")
  const type = [(schema["type"] ?? "any") as string | ReadonlyArray<string>].flat().join(" or ")
  return type === "array" ? `list of ${typeOf((schema["items"] ?? {}) as Record<string, unknown>)}` : type
}
