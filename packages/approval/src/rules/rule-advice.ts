import { programOf, runsOthers } from "../matching/parse-command.ts"
import type { Rule } from "./rule.ts"

/** Remarks on a rule that is valid but may not mean what its author meant. */
export const ruleAdvice = ({ decision, touches }: Rule): ReadonlyArray<string> =>
  [touches?.runs ?? []].flat().flatMap((command) => {
    const words = command.trim().split(/\s+/)
    const star = starWithinWord(command.trim(), words.at(-1) ?? "", decision)
    return decision === "allow" ? star.concat(anyCommand(command, words)) : star
  })

// `npm run *` is one further word; in `git status*` the star is often meant for all that follows.
const starWithinWord = (command: string, last: string, decision: Rule["decision"]): ReadonlyArray<string> => {
  if (!/[^*]\*$/.test(last)) return []
  const plain = command.replace(/\*$/, "")
  return [
    `'${command}' ${decision === "allow" ? "allows" : "matches"} no further words, because * stays within a word: ` +
      `'${plain} --short' does not match. For any further words write '${plain} **'.`
  ]
}

/** A remark where the words that a pattern leaves open are a command or a program of their own. */
const anyCommand = (command: string, words: ReadonlyArray<string>): ReadonlyArray<string> => {
  const open = words.findIndex((word) => word.includes("*"))
  if (open === -1) return []
  const isAny = open === 0 && /^\*+$/.test(words[0] ?? "")
  if (!isAny && runsOthers(words.slice(0, open)) === undefined) return []
  const who = isAny ? "it names no program" : `${programOf(words)} runs what its arguments say`
  return [`'${command}' allows any command: ${who}. Name the command that may run instead.`]
}
