// node run-attack.ts NAME SECONDS SEED: runs one attack, and sends its figures to the parent process as they come.
import type { Attack } from "./attack.ts"

const [name = "", seconds = "5", seed = "1"] = process.argv.slice(2)
const { attack } = (await import(`./attacks/${name}.ts`)) as { readonly attack: Attack }
try {
  for await (const figure of attack({ seconds: Number(seconds), seed: Number(seed) })) process.send?.(figure)
  process.disconnect?.()
} catch (error) {
  // Printed here, because an attack may count uncaught exceptions, and must not count this one.
  console.error(error)
  process.exit(1)
}
