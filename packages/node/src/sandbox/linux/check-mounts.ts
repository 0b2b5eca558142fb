import { readFileSync } from "node:fs"

import { quoted } from "../../process/launcher/launcher.ts"
import type { Mount } from "../paths.ts"

/**
 * Shell code for the inside of a sandbox that ends there when something else than the workspace's own was brought into
 * it. What makes a sandbox follows links, and what lies in the workspace can be replaced by one after it was looked at.
 * A line of the table of mounts says where the thing itself lies, whatever it is called and wherever it was put.
 */
export const ownPlacesCode = (root: string, mounts: ReadonlyArray<Mount>): string => {
  const places = mounts
    .filter((mount) => isOfItself(mount) && mount.path.startsWith(`${root}/`))
    .map(({ path }) => path)
  if (places.length === 0) return ""
  // Other file systems that the host has in the workspace come along.
  const others = hostMounts().filter(({ point }) => point.startsWith(`${escaped(root)}/`))
  const wanted = places.filter((path) => others.every(({ point }) => point !== escaped(path)))
  const known = others.map(({ thing }) => quoted(thing)).join("|")
  const below = others.map(({ thing }) => `|${quoted(asParent(thing))}?*`).join("")
  return `
home=none left=${wanted.length}
while read -r id above device thing point rest; do
  [ "$home" != none ] || [ "$point" != ${quoted(escaped(root))} ] || home="$device \${thing%/}/"
  case "$device $thing" in
    ${known === "" ? "" : `${known}) ;;`}
    "$home"?*${below}) left=$((left - 1)) ;;
  esac
done </proc/self/mountinfo
[ $left = 0 ] || { echo 'part of the workspace was replaced meanwhile' >&2; exit 125; }
`
}

const isOfItself = (mount: Mount): boolean =>
  (mount.kind === "readable" || mount.kind === "writable") && mount.from === undefined

/** What the host has mounted: the device with the path on it, and where. */
const hostMounts = (): ReadonlyArray<{ readonly thing: string; readonly point: string }> =>
  readFileSync("/proc/self/mountinfo", "utf8")
    .split("\n")
    .map((line) => line.split(" "))
    .map(([, , device = "", path = "", point = ""]) => ({ thing: `${device} ${path}`, point }))

const asParent = (thing: string): string => (thing.endsWith("/") ? thing : `${thing}/`)

/** A path as the table of mounts writes it. */
const escaped = (path: string): string =>
  path.replaceAll(/[ \t\n\\]/g, (character) => `\\${character.charCodeAt(0).toString(8).padStart(3, "0")}`)
