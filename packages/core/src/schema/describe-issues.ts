import type * as z from "zod"

type Issue = z.core.$ZodIssue

/**
 * What zod has against a value. Where it could have had several shapes, zod says "Invalid input" and no more: this tells
 * what is wrong inside the shape that was meant, or what each of them expects.
 */
export const plainIssues = (error: z.ZodError): ReadonlyArray<Issue> => error.issues.flatMap(plain)

const plain = (issue: Issue): ReadonlyArray<Issue> => {
  // Words that the schema's author chose stay.
  if (issue.code !== "invalid_union" || issue.message !== "Invalid input") return [issue]
  const meant = issue.errors.find((issues) => issues.length > 0 && issues.every(({ path }) => path.length > 0))
  if (meant !== undefined) {
    return meant.flatMap((inner) => plain({ ...inner, path: [...issue.path, ...inner.path] }))
  }
  const messages = issue.errors.flatMap((issues) => issues.flatMap(plain)).map(({ message }) => message)
  return messages.length === 0 ? [issue] : [{ ...issue, message: [...new Set(messages)].join(", or ") }]
}
