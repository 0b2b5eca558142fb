// Checks every link of the built site: the page it names exists, and has the anchor.
import { existsSync, globSync, readFileSync } from "node:fs"
import { dirname, join, relative } from "node:path"

const site = join(import.meta.dirname, "../site/dist")
const pages = new Map(
  globSync("**/*.html", { cwd: site }).map((page) => [join(site, page), readPage(join(site, page))])
)

let followed = 0
const broken = [...pages].flatMap(([page, { links }]) =>
  links
    .filter((link) => !/^[a-z]+:/.test(link))
    .filter((link) => !leadsSomewhere(page, link))
    .map((link) => `${relative(site, page)}: ${link}`)
)
if (broken.length > 0 || pages.size === 0) {
  console.error(`Links that lead nowhere:\n${broken.join("\n")}`)
  process.exitCode = 1
} else console.log(`${pages.size} pages, ${followed} links`)

function readPage(file: string): { readonly links: ReadonlyArray<string>; readonly ids: ReadonlySet<string> } {
  const text = readFileSync(file, "utf8")
  const values = (pattern: RegExp): ReadonlyArray<string> => [...text.matchAll(pattern)].map(([, value]) => value ?? "")
  return { links: values(/\s(?:href|src)="([^"]*)"/g), ids: new Set(values(/\sid="([^"]*)"/g)) }
}

function leadsSomewhere(page: string, link: string): boolean {
  followed++
  const [path = "", fragment] = decodeURI(link).split("#")
  const target = path === "" ? page : join(dirname(page), path)
  return existsSync(target) && (fragment === undefined || pages.get(target)?.ids.has(fragment) === true)
}
