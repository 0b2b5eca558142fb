import { mkdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"

const words = (
  "static int struct return void const unsigned long char if else for while switch case break default include define " +
  "device driver kernel memory buffer lock mutex queue page table index count size offset length value result error " +
  "status flags mask bit byte word data info node list head next prev parent child root"
).split(" ")

/** A line that is in one of a hundred files. */
const rareLine = "/* rarely_seen_needle */"

export const generatedPatterns = { rare: "rarely_seen_needle", expression: "mutex_[a-z]+_queue", common: "struct" }

/** Writes a tree like a program's source, 1,024 small files in 64 directories, the same every time. */
export const generateTree = (root: string): void => {
  const random = sequence(42)
  for (let first = 0; first < 8; first++) {
    for (let second = 0; second < 8; second++) {
      const directory = join(root, `${words[first]}_${first}/${words[second]}_${second}`)
      mkdirSync(directory, { recursive: true })
      for (let file = 0; file < 16; file++) {
        const extension = ["c", "c", "h", "c", "txt", "md", "h", "json"][file % 8]
        writeFileSync(join(directory, `${words[file]}_${file}.${extension}`), fileText(random))
      }
    }
  }
}

const fileText = (random: (below: number) => number): string => {
  const lines = Array.from({ length: 40 + random(300) }, () => {
    const line = Array.from({ length: 2 + random(8) }, () => words[random(words.length)]).join(
      random(5) > 0 ? " " : "_"
    )
    return `${random(4) === 0 ? "\t" : ""}${line};`
  })
  if (random(100) === 0) lines[random(lines.length)] = rareLine
  return `${lines.join("\n")}\n`
}

const sequence = (seed: number): ((below: number) => number) => {
  let state = seed
  return (below) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0
    // Without the low bits, which repeat after a short while in a linear congruential generator.
    return (state >>> 8) % below
  }
}
