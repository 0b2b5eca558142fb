import { useState } from "react"

/** A choice that the browser remembers in its local storage. */
export const useSetting = <A extends string>(
  name: string,
  choices: ReadonlyArray<A>,
  usual: A
): readonly [A, (choice: A) => void] => {
  const key = `haft-${name}`
  const [choice, setChoice] = useState(() => choices.find((known) => known === localStorage.getItem(key)) ?? usual)
  return [
    choice,
    (next) => {
      localStorage.setItem(key, next)
      setChoice(next)
    }
  ]
}
