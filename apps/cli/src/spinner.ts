import { cutTo } from "./display-width.ts"
import { forScreen, roomOf, takesEscapes } from "./terminal.ts"

/** Work that is done sooner shows no spinner. */
const patienceMs = 400

let hush = (): void => undefined

/** Hides the spinner while a person is asked something, until the work reports progress again. */
export const hushSpinner = (): void => hush()

/** Shows a spinner on stderr while `work` goes on, with the messages of its progress; on a terminal only. */
export const withSpinner = async <A>(
  name: string,
  work: (tell: (message: string) => void) => Promise<A>
): Promise<A> => {
  if (!takesEscapes(process.stderr)) return work(() => undefined)
  const frames = "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏"
  const began = performance.now()
  let message = name
  let count = 0
  let isHushed = false
  const clear = (): void => {
    if (count > 0) process.stderr.write("\r\u001B[2K")
  }
  const draw = (): void => {
    const elapsed = performance.now() - began
    if (isHushed || elapsed < patienceMs) return
    const news = message === name ? `${name} ${Math.floor(elapsed / 1000)} s` : message
    const text = `${frames[count++ % frames.length]} ${news}`
    process.stderr.write(`\r\u001B[2K${cutTo(text, roomOf(process.stderr) - 1)}`)
  }
  hush = () => {
    if (!isHushed) clear()
    isHushed = true
  }
  const timer = setInterval(draw, 120)
  try {
    return await work((told) => {
      message = forScreen(process.stderr, told).replaceAll(/\s+/g, " ")
      isHushed = false
    })
  } finally {
    clearInterval(timer)
    if (!isHushed) clear()
    hush = () => undefined
  }
}
