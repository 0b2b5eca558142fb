import { isObject } from "../is-object.ts"

export interface PrintedText {
  readonly name: string
  readonly text: string
}

const printed = ["stdout", "stderr", "output"]

/** Output of a command, whichever dialect's envelope the reply has. Terminal escape sequences are left out. */
export const outputIn = (reply: unknown): ReadonlyArray<PrintedText> => {
  if (!isObject(reply)) return []
  const here = printed.flatMap((name) => {
    const text = reply[name]
    return typeof text === "string" && text !== "" ? [{ name, text: text.replaceAll(escapes, "") }] : []
  })
  return here.length > 0 ? here : ["result", "value", "data"].flatMap((name) => outputIn(reply[name]))
}

const escape = String.fromCodePoint(27)
const escapes = new RegExp(
  String.raw`${escape}(?:\[[0-?]*[ -/]*[@-~]|\][^\u0007${escape}]*(?:\u0007|${escape}\\)?|.)`,
  "g"
)
