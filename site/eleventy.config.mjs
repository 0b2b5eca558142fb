// The pages of the site are the documents of the repository themselves, so that there are no copies to keep up to date.
import { existsSync, globSync, readFileSync, statSync } from "node:fs"
import { dirname, join, posix } from "node:path"

const root = dirname(import.meta.dirname)
const pages = globSync(
  [
    "*.md",
    "docs/**/*.md",
    "packages/*/README.md",
    "apps/*/README.md",
    "examples/README.md",
    "bench/README.md",
    "bench/results.md"
  ],
  {
    cwd: root
  }
)
// Files that pages show or link to: sources and tests by the links themselves, the rest by their kind.
const linkedSources = pages.flatMap((page) =>
  [...readFileSync(join(root, page), "utf8").matchAll(/\]\(([^)\s#]+\.ts)\)/g)]
    .map(([, link]) => posix.join(posix.dirname(page), link))
    .filter((file) => existsSync(join(root, file)))
)
const files = [
  ...new Set([
    ...globSync(["docs/**/*.{png,svg}", "examples/*/src/*.ts", "packages/*/src/**/*.grammar", "LICENSE"], {
      cwd: root
    }),
    ...linkedSources
  ])
]

/** @param {import("@11ty/eleventy/UserConfig").default} config */
export default (config) => {
  const all = sections()
  for (const page of pages) {
    const content = readFileSync(join(root, page), "utf8")
    const title = /^# (.*)$/m.exec(content)?.[1] ?? page
    const permalink = `/${addressOf(page)}`
    config.addTemplate(`${page.replace(/\.md$/, "")}.page.md`, content, {
      layout: "page.liquid",
      title,
      page_path: page,
      // Only this section of the list is open, because on a phone all of it would be above every page.
      page_section:
        page === "README.md" ? "Guides" : all.find(({ pages }) => pages.some(({ path }) => path === page))?.name,
      permalink
    })
  }
  config.addGlobalData("sections", all)
  config.addFilter("from", (target, here) => posix.relative(posix.dirname(`/${here}`), `/${target}`) || ".")
  for (const file of files) config.addPassthroughCopy({ [posix.relative("site", file)]: file })
  config.addPassthroughCopy("style.css")
  config.amendLibrary("md", (markdown) => {
    markdown.renderer.rules.heading_open = heading
    markdown.core.ruler.push("links", links)
  })
  return { markdownTemplateEngine: false, dir: { input: ".", includes: "_includes", output: "dist" } }
}

/** The address of a document in the site. A README is the index of its folder. */
const addressOf = (page) => page.replace(/README\.md$/, "index.html").replace(/\.md$/, ".html")

// Headings get the same anchors as on GitHub, so that links work there and here.
const heading = (tokens, index, options, _, self) => {
  const text = tokens[index + 1].children.map(({ content }) => content).join("")
  const id = text
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\s_-]/gu, "")
    .trim()
    .replaceAll(/\s/g, "-")
  tokens[index].attrSet("id", id)
  return self.renderToken(tokens, index, options)
}

const links = ({ tokens, env }) => {
  for (const token of tokens.flatMap(({ children }) => children ?? [])) {
    const href = token.type === "link_open" ? token.attrGet("href") : undefined
    if (href === undefined || href === null || /^(?:[a-z]+:|#)/.test(href)) continue
    const [path = "", fragment] = href.split("#")
    const target = posix.join(posix.dirname(env.page_path), path)
    const isFolder = existsSync(join(root, target)) && statSync(join(root, target)).isDirectory()
    const address = isFolder ? posix.join(path, "index.html") : addressOf(path)
    token.attrSet("href", fragment === undefined ? address : `${address}#${fragment}`)
  }
}

const sections = () => {
  const titled = (path) => ({
    path,
    address: addressOf(path),
    title: /^# (.*)$/m.exec(readFileSync(join(root, path), "utf8"))?.[1] ?? path
  })
  const under = (folder) =>
    pages
      .filter((page) => posix.dirname(page) === folder)
      .toSorted()
      .map(titled)
  return [
    { name: "Guides", pages: under("docs/guides") },
    { name: "Reference", pages: under("docs") },
    {
      name: "Packages",
      pages: pages
        .filter((page) => /^packages\/[\w-]+\/README\.md$/.test(page))
        .toSorted()
        .map(titled)
    },
    { name: "Decisions", pages: under("docs/decisions") },
    {
      name: "The project",
      pages: [
        "README.md",
        "CONTRIBUTING.md",
        "AGENTS.md",
        "VERSIONING.md",
        "examples/README.md",
        "bench/README.md",
        "bench/results.md"
      ].map(titled)
    }
  ]
}
