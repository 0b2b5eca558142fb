import { useSyncExternalStore } from "react"

export const screenNames = [
  "approvals",
  "activity",
  "review",
  "terminals",
  "tools",
  "rules",
  "metrics",
  "overview",
  "cluster"
] as const
export type ScreenName = (typeof screenNames)[number]

/** Where the console is: `#/<workspace>/<screen>/<item>`. */
export interface Route {
  readonly workspace?: string
  readonly screen: ScreenName
  readonly item?: string
}

export const parseRoute = (hash: string): Route => {
  const [workspace, screen, item] = hash
    .replace(/^#\/?/, "")
    .split("/")
    .map((part) => decoded(part))
  return {
    screen: screenNames.find((name) => name === screen) ?? "approvals",
    ...(workspace !== undefined && workspace !== "" && { workspace }),
    ...(item !== undefined && item !== "" && { item })
  }
}

export const addressOf = (workspace: string, screen: ScreenName, item?: string): string =>
  `#/${encodeURIComponent(workspace)}/${screen}${item === undefined ? "" : `/${encodeURIComponent(item)}`}`

export const goTo = (address: string): void => {
  window.location.hash = address
}

export const useRoute = (): Route => parseRoute(useSyncExternalStore(subscribe, () => window.location.hash))

const subscribe = (listener: () => void): (() => void) => {
  window.addEventListener("hashchange", listener)
  return () => window.removeEventListener("hashchange", listener)
}

const decoded = (part: string): string => {
  try {
    return decodeURIComponent(part)
  } catch {
    return ""
  }
}
