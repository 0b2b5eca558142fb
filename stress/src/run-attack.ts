// One attack in a process of its own: node … run-attack.ts NAME SECONDS SEED. Figures go to the parent as they come.
import type { Attack } from "./attack.ts"

const [name = "", seconds = "5", seed = "1"] = process.argv.slice(2)
const { attack } = (await import(`./attacks/${name}.ts`)) as { readonly attack: Attack }
try {
  for await (const figure of attack({ seconds: Number(seconds), seed: Number(seed) })) process.send?.(figure)
  process.disconnect?.()
} catch (error) {
  // Said here: an attack may listen to errors that nobody catches, and would take this for one.
  console.error(error)
  process.exit(1)
}
