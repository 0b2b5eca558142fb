import type { Rule } from "./rule.ts"

/** Remarks on a rule that is valid but may not mean what its author meant. */
export const ruleAdvice = ({ decision, touches }: Rule): ReadonlyArray<string> =>
  [touches?.runs ?? []].flat().flatMap((command) => {
    const last = command.trim().split(/\s+/).at(-1) ?? ""
    // `npm run *` is one further word; in `git status*` the star is often meant for all that follows.
    if (!/[^*]\*$/.test(last)) return []
    const plain = command.trim().replace(/\*$/, "")
    return [
      `'${command}' ${decision === "allow" ? "allows" : "matches"} no further words, because * stays within a word: ` +
        `'${plain} --short' does not match. For any further words write '${plain} **'.`
    ]
  })
