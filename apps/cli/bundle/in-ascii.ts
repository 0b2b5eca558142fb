import type { Plugin } from "rolldown"

/** Escapes all other characters than ASCII: a single one makes V8 store the whole source with two bytes a character. */
export const inAscii: Plugin = {
  name: "in-ascii",
  // After the minifier, which would undo the escapes.
  generateBundle: (_, bundle) => {
    for (const chunk of Object.values(bundle)) if (chunk.type === "chunk") chunk.code = escaped(chunk.code)
  }
}

const escaped = (code: string): string =>
  code.replaceAll(/[\u0080-\uFFFF]/g, (letter) => `\\u${letter.charCodeAt(0).toString(16).padStart(4, "0")}`)
