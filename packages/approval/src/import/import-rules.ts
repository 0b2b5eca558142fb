import { importClaudeCode, isClaudeCode } from "./claude-code.ts"
import { importCodex, isCodex } from "./codex.ts"
import type { ImportedRules } from "./imported-rules.ts"
import { importVsCode, isVsCode } from "./vs-code.ts"

/** Programs whose settings can be imported. */
export const importSources = ["claude-code", "codex", "vs-code"] as const
export type ImportSource = (typeof importSources)[number]

/**
 * Rules from another program's settings: Claude Code's `permissions`, Codex's `.rules`, VS Code's settings. Throws where
 * the text is none of these, or not what it is said to be.
 */
export const importRules = (text: string, source?: ImportSource): ImportedRules & { readonly source: ImportSource } => {
  if (source === "codex" || (source === undefined && isCodex(text))) return { source: "codex", ...importCodex(text) }
  const settings = settingsIn(text)
  if ((source ?? "claude-code") === "claude-code" && isClaudeCode(settings)) {
    return { source: "claude-code", ...importClaudeCode(settings) }
  }
  if ((source ?? "vs-code") === "vs-code" && isVsCode(settings)) return { source: "vs-code", ...importVsCode(settings) }
  throw new TypeError(
    "these are not settings that can be imported: expected `permissions` of Claude Code, prefix_rule(…) of Codex, " +
      "or chat.tools.… of VS Code"
  )
}

/** JSON with comments and trailing commas, as editors write it. */
const settingsIn = (text: string): unknown => {
  const plain = text
    .replaceAll(/("(?:[^"\\\n]|\\.)*")|\/\/[^\n]*|\/\*.*?\*\//gs, (_whole, quoted: string | undefined) => quoted ?? "")
    .replaceAll(/("(?:[^"\\\n]|\\.)*")|,(?=\s*[}\]])/g, (_whole, quoted: string | undefined) => quoted ?? "")
  try {
    return JSON.parse(plain.replace(/^\uFEFF/, ""))
  } catch {
    return undefined
  }
}
