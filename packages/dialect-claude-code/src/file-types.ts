import { toolError, type ToolError } from "@haft/core"
import * as Effect from "effect/Effect"

// ripgrep knows many more types; these are the ones that people and models name.
const types: Readonly<Record<string, string>> = {
  c: "*.{c,h}",
  cpp: "*.{cpp,cc,cxx,hpp,hh,hxx,h}",
  cs: "*.cs",
  css: "*.{css,scss}",
  dart: "*.dart",
  docker: "*Dockerfile*",
  elixir: "*.{ex,exs}",
  go: "*.go",
  haskell: "*.{hs,lhs}",
  html: "*.{html,htm}",
  java: "*.java",
  js: "*.{js,jsx,mjs,cjs}",
  json: "*.json",
  kotlin: "*.{kt,kts}",
  lua: "*.lua",
  make: "{Makefile,makefile,GNUmakefile,*.mk}",
  markdown: "*.{md,markdown,mdx}",
  md: "*.{md,markdown,mdx}",
  php: "*.php",
  py: "*.{py,pyi}",
  python: "*.{py,pyi}",
  r: "*.{r,R,Rmd}",
  ruby: "*.{rb,gemspec}",
  rust: "*.rs",
  scala: "*.{scala,sbt}",
  sh: "*.{sh,bash,zsh}",
  sql: "*.sql",
  svelte: "*.svelte",
  swift: "*.swift",
  toml: "*.toml",
  ts: "*.{ts,tsx,mts,cts}",
  txt: "*.txt",
  vue: "*.vue",
  xml: "*.xml",
  yaml: "*.{yaml,yml}",
  zig: "*.zig"
}

/** The globs of a type of files; none where no type is asked for. */
export const globsOfType = (
  type: string | undefined
): Effect.Effect<ReadonlyArray<string>, ToolError<"invalid_params">> => {
  if (type === undefined) return Effect.succeed([])
  const glob = Object.hasOwn(types, type) ? types[type] : undefined
  if (glob !== undefined) return Effect.succeed([glob])
  return toolError("invalid_params", `parameter 'type': unrecognized file type: ${type}`, {
    suggestion: `Use one of ${Object.keys(types).join(", ")}, or a glob.`
  })
}
