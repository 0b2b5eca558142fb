import { existsSync, lstatSync, mkdirSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"

import type { Mount } from "./paths.ts"

/** How commands of a sandbox are made to trust one more authority. */
export interface TrustedAuthority {
  readonly mounts: ReadonlyArray<Mount>
  readonly variables: Readonly<Record<string, string>>
}

/**
 * Lets programs trust an authority besides those of the system: through files in the sandbox's /etc, variables that
 * name them, and a mount over the system's own list for programs that listen to no variable.
 */
export const trustAuthority = (
  settings: string,
  certificate: string,
  /** True where the sandbox has settings of an image: then all known lists are mounted, whichever it reads. */
  { hasOwnSettings = false }: { readonly hasOwnSettings?: boolean } = {}
): TrustedAuthority => {
  const directory = join(settings, name)
  const bundle = join(directory, "certificates.pem")
  if (!existsSync(bundle)) {
    mkdirSync(directory, { recursive: true })
    writeFileSync(join(directory, "authority.pem"), certificate)
    writeFileSync(bundle, `${systemCertificates()}\n${certificate}`)
  }
  const inside = join("/etc", name, "certificates.pem")
  const lists = hasOwnSettings
    ? bundles
    : bundles.filter((path) => lstatSync(path, { throwIfNoEntry: false })?.isFile() === true)
  return {
    mounts: [
      ...(hasOwnSettings ? [readable(join("/etc", name), directory)] : []),
      ...lists.map((path) => readable(path, bundle))
    ],
    variables: {
      // Of these only Node adds to what it trusts; for the others the file holds everything.
      NODE_EXTRA_CA_CERTS: join("/etc", name, "authority.pem"),
      ...Object.fromEntries(variables.map((variable) => [variable, inside]))
    }
  }
}

const readable = (path: string, from: string): Mount => ({ kind: "readable", path, from })

const name = "haft"

const variables = ["SSL_CERT_FILE", "CURL_CA_BUNDLE", "GIT_SSL_CAINFO", "REQUESTS_CA_BUNDLE", "PIP_CERT"]

/** Lists of authorities of common systems. */
const bundles = [
  "/etc/ssl/certs/ca-certificates.crt",
  "/etc/pki/tls/certs/ca-bundle.crt",
  "/etc/ssl/certs/ca-bundle.crt"
]

const systemCertificates = (): string => {
  const found = bundles.find((path) => existsSync(path))
  return found === undefined
    ? process.getBuiltinModule("node:tls").rootCertificates.join("\n")
    : readFileSync(found, "utf8")
}
