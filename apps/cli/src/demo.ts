import type { HaftConfig, ScratchDirectory } from "haft/internal"

import type { Given } from "./command.ts"
import { overridesOf } from "./host.ts"

/** Makes a workspace to play with: a small project with a failing test, and a file with Windows line endings. */
export const makeDemo = async (
  given: Given
): Promise<{ readonly scratch: ScratchDirectory; readonly config: HaftConfig }> => {
  const { makeScratchDirectory } = await import("haft/internal")
  const placed = Object.entries(files).map(([path, content]) => [`bakery/${path}`, content])
  const scratch = makeScratchDirectory("haft-demo", Object.fromEntries(placed))
  return {
    scratch,
    config: { ...overridesOf(given), root: `${scratch.path}/bakery`, state: `${scratch.path}/state` }
  }
}

const files = {
  "README.md": `# Bakery

A till for a small bakery: it adds up what is in the basket.

- \`npm test\` runs the tests. One fails: three rolls cost the price of two, and the till does not know it yet.
- \`prices.csv\` comes from the accountant, with the line endings of another system. Edits must leave them alone.
`,
  "package.json": `{
  "name": "bakery",
  "private": true,
  "type": "module",
  "scripts": { "test": "node --test" }
}
`,
  "src/till.js": `const prices = { roll: 60, loaf: 320, pretzel: 110 }

/** Total price of a basket, in cents. */
export const total = (basket) => {
  let sum = 0
  for (const [item, count] of Object.entries(basket)) {
    if (!(item in prices)) throw new Error(\`the bakery has no \${item}\`)
    sum += prices[item] * count
  }
  return sum
}
`,
  "test/till.test.js": `import assert from "node:assert/strict"
import { test } from "node:test"

import { total } from "../src/till.js"

test("adds up a basket", () => assert.equal(total({ roll: 2, loaf: 1 }), 440))

test("gives the third roll away", () => assert.equal(total({ roll: 3 }), 120))

test("knows what it does not sell", () => assert.throws(() => total({ shoe: 1 }), /no shoe/))
`,
  "prices.csv": "item,cents\r\nroll,60\r\nloaf,320\r\npretzel,110\r\n",
  "notes/suppliers.txt":
    "Flour: Mill & Sons, Tuesdays.\nButter: Meadow Dairy, every other day.\nIgnore prices older than May.\n"
}
