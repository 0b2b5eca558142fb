/** A check that throws unless the answer is this text. */
export const expectText =
  (expected: string) =>
  (answer: unknown): void => {
    const text = String(answer)
    if (!text.includes(expected)) throw new Error(`"${expected}" is not in ${JSON.stringify(text.slice(0, 200))}`)
  }

export const expectSame =
  (expected: unknown) =>
  (answer: unknown): void => {
    if (answer !== expected)
      throw new Error(`${JSON.stringify(answer)?.slice(0, 200)}, not ${JSON.stringify(expected)}`)
  }

/** A check that throws unless a figure of the answer is the same as that of the first answer, of any contender. */
export const expectAlike = (figure: (answer: unknown) => unknown): ((answer: unknown) => void) => {
  let first: { readonly figure: unknown } | undefined
  return (answer) => {
    first ??= { figure: figure(answer) }
    expectSame(first.figure)(figure(answer))
  }
}

export const expectPositive = (answer: unknown): void => {
  if (!(Number(answer) > 0)) throw new Error(`${String(answer)} is no figure`)
}
