import { createPlugin, htmlToMarkdown as convert } from "@mdream/js"
import { Readability } from "@mozilla/readability"
import { parseHTML } from "linkedom"

import type { ReadablePage } from "./readable-page.ts"

/** The main content of a page as Markdown, with absolute links. */
export const htmlToMarkdown = (html: string, url: string): ReadablePage => {
  const page = outline(html)
  const base = resolveUrl(page.base ?? "", url) ?? url
  const article = page.isOrdinary ? findArticle(html) : undefined
  return { title: page.title, text: toMarkdown(article ?? html, base) }
}

/** Never part of what a page says. */
const furniture = [
  "nav",
  "footer",
  "aside",
  "form",
  "button",
  "select",
  "textarea",
  "dialog",
  "noscript",
  "template",
  "svg"
]

/** Finding the article takes time that grows with the square of a page's depth; beyond this the whole page is shown. */
const ordinary = { characters: 2_000_000, elements: 20_000, totalDepth: 400_000 }

/** An article that leaves out most of the page is a misunderstanding: an index, a forum, a listing. */
const leastShare = 0.25

const toMarkdown = (html: string, base: string): string =>
  convert(html, {
    plugins: { filter: { exclude: ["head", ...furniture] } },
    clean: { blankLines: true, emptyLinks: true, emptyLinkText: true, emptyImages: true },
    hooks: [absoluteLinks(base)]
  }).trim()

const absoluteLinks = (base: string) =>
  createPlugin({
    processAttributes: ({ attributes }) => {
      for (const name of ["href", "src"]) {
        const value = attributes[name]
        if (value !== undefined) attributes[name] = resolveUrl(value, base) ?? "#"
      }
    }
  })

/** Only links that lead somewhere: no scripts, no pictures spelled out in the page itself. */
const resolveUrl = (link: string, base: string): string | undefined => {
  if (!URL.canParse(link, base)) return undefined
  const url = new URL(link, base)
  return ["http:", "https:", "mailto:"].includes(url.protocol) ? url.href : undefined
}

const outline = (html: string) => {
  let title: string | undefined
  let base: string | undefined
  let elements = 0
  let totalDepth = 0
  convert(html, {
    plugins: {
      extraction: {
        title: ({ textContent }) => {
          title ??= textContent.replaceAll(/\s+/g, " ").trim() || undefined
        }
      }
    },
    hooks: [
      createPlugin({
        processAttributes: ({ name, attributes, depth }) => {
          elements++
          totalDepth += depth
          if (name === "base") base ??= attributes["href"]
        }
      })
    ]
  })
  const isOrdinary =
    html.length <= ordinary.characters && elements <= ordinary.elements && totalDepth <= ordinary.totalDepth
  return { title, base, isOrdinary }
}

const findArticle = (html: string): string | undefined => {
  const { document } = parseHTML(/<body[\s>]/i.test(html) ? html : `<html><body>${html}</body></html>`)
  const length = lengthOf(document.body)
  const article = new Readability(document, { charThreshold: 200, keepClasses: true }).parse()
  if (!article?.content || (article.length ?? 0) < length * leastShare) return undefined
  // The page's own heading, which an article leaves to its reader.
  const hasHeading = /<h1[\s>]/i.test(article.content)
  return hasHeading || !article.title ? article.content : `<h1>${escapeHtml(article.title)}</h1>${article.content}`
}

const lengthOf = (body: { readonly textContent: string | null }): number =>
  body.textContent?.replaceAll(/\s+/g, " ").length ?? 0

const escapeHtml = (text: string): string => text.replaceAll("&", "&amp;").replaceAll("<", "&lt;")
