/** Languages by the end of a file's name. */
const byExtension: Readonly<Record<string, string>> = {
  bash: "bash",
  c: "c",
  cc: "cpp",
  cjs: "javascript",
  cpp: "cpp",
  cs: "csharp",
  css: "css",
  cts: "typescript",
  go: "go",
  h: "cpp",
  hpp: "cpp",
  html: "xml",
  ini: "ini",
  java: "java",
  js: "javascript",
  json: "json",
  jsonc: "json",
  jsx: "javascript",
  kt: "kotlin",
  md: "markdown",
  mjs: "javascript",
  mts: "typescript",
  php: "php",
  py: "python",
  rb: "ruby",
  rs: "rust",
  scss: "scss",
  sh: "bash",
  sql: "sql",
  svg: "xml",
  swift: "swift",
  toml: "ini",
  ts: "typescript",
  tsx: "typescript",
  xml: "xml",
  yaml: "yaml",
  yml: "yaml"
}

/** Languages of files that are known by their whole name. */
const byName: Readonly<Record<string, string>> = { dockerfile: "dockerfile", makefile: "makefile" }

/** The language that a file is written in, by its name; undefined where none is known. */
export const languageOf = (path: string): string | undefined => {
  const name = path.slice(path.lastIndexOf("/") + 1).toLowerCase()
  if (Object.hasOwn(byName, name)) return byName[name]
  const extension = name.slice(name.lastIndexOf(".") + 1)
  return name.includes(".") && Object.hasOwn(byExtension, extension) ? byExtension[extension] : undefined
}
