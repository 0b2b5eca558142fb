import * as z from "zod"

const label = String.raw`[a-z0-9_](?:[a-z0-9_-]*[a-z0-9_])?`
const hostPattern = new RegExp(String.raw`^(?:\*\.)?${label}(?:\.${label})*$|^\[[0-9a-f:.]+\]$`)

/** A host's name as URLs spell it: lower case, without the final dot. */
export const bareHost = (hostname: string): string => hostname.toLowerCase().replace(/\.$/, "")

/** One entry of an allowlist: an exact host, or `*.` and a domain for every host below it. */
export const hostEntry = z
  .string()
  .transform(bareHost)
  .refine((entry) => hostPattern.test(entry), "a host such as docs.example.com, or *.example.com for all below it")

/** True when `hostname` is named, or lies below a `*.` entry. `*.example.com` is not example.com itself. */
export const isOnList = (list: ReadonlyArray<string>, hostname: string): boolean => {
  const host = bareHost(hostname)
  return list.some((entry) => (entry.startsWith("*.") ? host.endsWith(entry.slice(1)) : host === entry))
}

/** One private host that may be reached: name or address, and port. Spelled as URLs spell it. */
export const privateHostEntry = z.string().transform((entry, context) => {
  const [, host = "", port = ""] = /^([^/?#@\\]+):(\d{1,5})$/.exec(entry) ?? []
  if (host !== "" && URL.canParse(`http://${host}:${port}`)) {
    return `${bareHost(new URL(`http://${host}`).hostname)}:${Number(port)}`
  }
  context.addIssue("a host and a port, such as localhost:8080")
  return z.NEVER
})

/** True for a URL whose host and port the host's configuration names. */
export const isNamedPrivate = (list: ReadonlyArray<string>, url: URL): boolean =>
  list.includes(`${bareHost(url.hostname)}:${portOf(url)}`)

const portOf = (url: URL): string => {
  if (url.port !== "") return url.port
  return url.protocol === "https:" ? "443" : "80"
}
