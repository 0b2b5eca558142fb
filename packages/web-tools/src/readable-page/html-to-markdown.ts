import { createPlugin, htmlToMarkdown as convert } from "@mdream/js"
import { Readability } from "@mozilla/readability"
import { parseHTML } from "linkedom"

import type { ReadablePage } from "./readable-page.ts"

/**
 * A page as Markdown, twice: all of it, which takes a moment, then its main content, where it has any. Finding that
 * takes time that grows with the square of a page's depth, so whoever waits may have to do with the first.
 */
export function* htmlToMarkdown(html: string, url: string): Generator<ReadablePage> {
  const { title, base } = aboutPage(html, url)
  yield { title, text: toMarkdown(html, base) }
  const bare = html.replaceAll(/<(script|style|svg|noscript|template)\b[^>]*>[^]*?<\/\1\s*>/gi, "")
  const article = bare.length > longestArticle ? undefined : findArticle(bare, title)
  if (article !== undefined) yield { title, text: toMarkdown(article, base) }
}

/** A tree of a page takes a hundred times its memory; what is larger than this is no article anyway. */
const longestArticle = 300_000

const longestTitle = 500

/** Never part of what a page says. */
const furniture =
  "head title nav footer aside form button select textarea dialog script style noscript template svg".split(" ")

/** An article that leaves out most of the page is a misunderstanding: an index, a forum, a listing. */
const leastShare = 0.25

const toMarkdown = (html: string, base: string): string =>
  convert(html, {
    plugins: { filter: { exclude: furniture } },
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

const aboutPage = (html: string, url: string) => {
  let title: string | undefined
  let base: string | undefined
  const keepBase = createPlugin({
    processAttributes: ({ name, attributes }) => {
      if (name === "base") base ??= resolveUrl(attributes["href"] ?? "", url)
    }
  })
  const keepTitle = ({ textContent }: { readonly textContent: string }): void => {
    title ??= textContent.replaceAll(/\s+/g, " ").trim().slice(0, longestTitle) || undefined
  }
  convert(html, { plugins: { extraction: { title: keepTitle } }, hooks: [keepBase] })
  return { title, base: base ?? url }
}

const findArticle = (html: string, title: string | undefined): string | undefined => {
  const { document } = parseHTML(/<body[\s>]/i.test(html) ? html : `<html><body>${html}</body></html>`)
  for (const element of document.querySelectorAll("body title, script, style, noscript, template")) element.remove()
  const length = document.body.textContent?.replaceAll(/\s+/g, " ").length ?? 0
  const article = readArticle(document)
  if (!article?.content || (article.length ?? 0) < length * leastShare) return undefined
  // The page's own heading, which an article leaves to its reader.
  const heading = article.title || title
  const hasHeading = /<h1[\s>]/i.test(article.content)
  return hasHeading || !heading ? article.content : `<h1>${escapeHtml(heading)}</h1>${article.content}`
}

// It is not at ease with every tree that a parser makes of broken markup; then there is no article.
const readArticle = (document: ConstructorParameters<typeof Readability>[0]) => {
  try {
    return new Readability(document, { charThreshold: 200, keepClasses: true }).parse()
  } catch {
    return undefined
  }
}

const escapeHtml = (text: string): string => text.replaceAll("&", "&amp;").replaceAll("<", "&lt;")
