import { isAddress } from "./public-address.ts"

/** A host with its port, both canonical. */
export interface Endpoint {
  /** Lower case, ASCII, without the final dot; addresses in their usual spelling, IPv6 without brackets. */
  readonly host: string
  readonly port: number
}

/** One entry of a list of hosts: `example.com`, `*.example.com`, `example.com:8443`, `[2001:db8::1]:443`, `*`. */
export interface HostPattern {
  /** As it was written. */
  readonly text: string
  readonly matchesHost: (host: string) => boolean
  /** Absent where the entry names none. */
  readonly port?: number
  /** True for an entry that spells out one host, without `*`. */
  readonly isExact: boolean
}

/**
 * The canonical spelling of a host, or undefined for what is none. Every check and every connection uses this spelling:
 * `0x7f.1`, `LOCALHOST.` and `%6cocalhost` have one meaning or are refused.
 */
export const canonicalHost = (text: string): string | undefined => {
  const bare = text.startsWith("[") && text.endsWith("]") ? text.slice(1, -1) : text
  if (bare.includes(":")) return isAddress(bare) ? URL.parse(`http://[${bare}]`)?.hostname.slice(1, -1) : undefined
  // oxlint-disable-next-line no-control-regex
  if (!/^[^\u0000-\u0020\u007F%/?#@\\:[\]]{1,253}$/.test(bare)) return undefined
  const host = URL.parse(`http://${bare}`)?.hostname.replace(/\.$/, "")
  return host !== undefined && hostPattern.test(host) ? host : undefined
}

/** Names that never mean a public host, whatever a resolver says. */
export const isLocalName = (host: string): boolean =>
  localNames.some((name) => host === name || host.endsWith(`.${name}`))

const localNames = ["localhost", "local", "internal", "home.arpa", "onion"]

/** `host:port`, as people and programs write it. */
export const printEndpoint = ({ host, port }: Endpoint): string =>
  host.includes(":") ? `[${host}]:${port}` : `${host}:${port}`

/** Parses `host:port`; undefined for anything else. */
export const parseEndpoint = (text: string): Endpoint | undefined => {
  const [, name = "", digits = ""] = /^(\[[^\]]+\]|[^:]+):(\d{1,5})$/.exec(text) ?? []
  const host = name === "" ? undefined : canonicalHost(name)
  const port = Number(digits)
  return host === undefined || port < 1 || port > 65_535 ? undefined : { host, port }
}

/** Parses an entry of a list of hosts; undefined for anything else. */
export const parseHostPattern = (text: string): HostPattern | undefined => {
  const [, below, name = "", digits] = /^(\*\.)?(\*|\[[^\]]+\]|[^:*]+)(?::(\d{1,5}))?$/.exec(text) ?? []
  const port = Number(digits ?? 1)
  if (name === "" || port < 1 || port > 65_535) return undefined
  const ported = digits === undefined ? {} : { port }
  if (name === "*")
    return below === undefined ? { text, isExact: false, ...ported, matchesHost: () => true } : undefined
  const host = canonicalHost(name)
  if (host === undefined || (below !== undefined && isAddress(host))) return undefined
  const matchesHost = (given: string): boolean => (below === undefined ? given === host : given.endsWith(`.${host}`))
  return { text, isExact: below === undefined, ...ported, matchesHost }
}

/** Ports of the web's own protocols, which an allowing entry without a port stands for. */
export const isWebPort = (port: number): boolean => port === 80 || port === 443

const label = String.raw`[a-z0-9_](?:[a-z0-9_-]*[a-z0-9_])?`
const hostPattern = new RegExp(String.raw`^${label}(?:\.${label})*$`)
