import { isObject } from "../is-object.ts"

/**
 * The change a call asked for, as a diff, if its arguments contain one: a patch, replacements, or the new content of a
 * file. It has no line numbers, because the console does not know what the file looked like before.
 */
export const changeOf = (params: unknown): string | undefined => {
  if (!isObject(params)) return undefined
  const patch = ["patch", "unified_diff", "diff"].map((name) => params[name]).find(isText)
  if (patch !== undefined) return patch
  const path = ["path", "filePath", "file"].map((name) => params[name]).find(isText)
  if (path === undefined) return undefined
  const replacements = replacementsOf(params)
  if (replacements.length > 0) {
    const hunks = replacements.map(({ find, replace }) => `@@ @@\n${prefixed("-", find)}${prefixed("+", replace)}`)
    return `--- ${path}\n+++ ${path}\n${hunks.join("")}`
  }
  const content = params["content"]
  return isText(content) ? `--- ${path}\n+++ ${path}\n@@ @@\n${prefixed("+", content)}` : undefined
}

const replacementsOf = (params: Readonly<Record<string, unknown>>) => {
  const edits = Array.isArray(params["edits"]) ? params["edits"] : [params]
  return edits.filter(isObject).flatMap((edit) => {
    const find = ["find", "oldString", "old_text"].map((name) => edit[name]).find(isText)
    const replace = ["replace", "newString", "new_text"].map((name) => edit[name]).find(isText)
    return find === undefined || replace === undefined ? [] : [{ find, replace }]
  })
}

const prefixed = (sign: string, text: string): string =>
  text === ""
    ? ""
    : text
        .replace(/\n$/, "")
        .split("\n")
        .map((line) => `${sign}${line}\n`)
        .join("")

const isText = (value: unknown): value is string => typeof value === "string"
