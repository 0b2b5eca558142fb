import type { Plugin } from "rolldown"

/** Source in ASCII: a single other letter makes the engine keep, and check, two bytes for each of its letters. */
export const inAscii: Plugin = {
  name: "in-ascii",
  // After the minifier, which writes every letter as itself.
  generateBundle: (_, bundle) => {
    for (const chunk of Object.values(bundle)) if (chunk.type === "chunk") chunk.code = escaped(chunk.code)
  }
}

const escaped = (code: string): string =>
  code.replaceAll(/[\u0080-\uFFFF]/g, (letter) => `\\u${letter.charCodeAt(0).toString(16).padStart(4, "0")}`)
