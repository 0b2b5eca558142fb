import { RE2JS } from "re2js"

/** What is wrong with an expression, in words. */
export class InvalidExpression extends Error {
  override readonly name = "InvalidExpression"
}

/** Whether something fits; `unknown` where finding out would take too long. */
export type Fit = "yes" | "no" | "unknown"

const maximumLength = 4096
/** Size of the compiled expression times length of the text: what was measured to stay below 50 ms at its worst. */
const maximumWork = 800_000

/** Compiles an expression in RE2's syntax that must match a whole text. Time grows with the text's length alone. */
export const linearExpression = (source: string): ((text: string) => Fit) => {
  const expression = compile(source)
  return bounded(expression, (text) => expression.testExact(text))
}

/** The same, but a match anywhere in the text counts. */
export const linearSearch = (source: string): ((text: string) => Fit) => {
  const expression = compile(source)
  return bounded(expression, (text) => expression.test(text))
}

const bounded = (expression: RE2JS, test: (text: string) => boolean): ((text: string) => Fit) => {
  const longest = Math.floor(maximumWork / expression.programSize())
  return (text) => (text.length > longest ? "unknown" : test(text) ? "yes" : "no")
}

const compile = (source: string): RE2JS => {
  if (source.length > maximumLength) {
    throw new InvalidExpression(`the expression is longer than ${maximumLength} characters`)
  }
  try {
    return RE2JS.compile(source)
  } catch (cause) {
    const problem = cause instanceof Error ? cause.message : String(cause)
    throw new InvalidExpression(problem.replace(/^error parsing regexp: /, ""), { cause })
  }
}
