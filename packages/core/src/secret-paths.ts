/** A glob of secret files. */
export interface SecretPath {
  /**
   * Compared with the end of a path, in any case: `*` and `?` stay within a name, `**` does not, `{a,b}` are alternatives.
   * A slash at its start begins it at the root of the workspace, one at its end means everything below a directory. With
   * `!` before it, what it matches is not secret.
   */
  readonly glob: string
  /** Only files that git does not track: of these names, some are credentials and some are part of the sources. */
  readonly onlyUntracked?: true
}

/**
 * Secret paths of every workspace: files whose content is credentials. Tools see their names, never their content.
 * Globs of a configuration come after these, and the last one that matches decides.
 */
export const defaultSecretPaths: ReadonlyArray<SecretPath> = [
  { glob: ".env" },
  { glob: ".env.*" },
  { glob: "!.env.{example,sample,template}" },
  { glob: "!.env.*.{example,sample,template}" },
  { glob: "id_{rsa,dsa,ecdsa,ed25519}" },
  { glob: ".netrc" },
  { glob: ".git-credentials" },
  { glob: ".aws/**" },
  { glob: ".ssh/**" },
  { glob: ".kube/**" },
  { glob: "*.{pem,key,p12,pfx,jks,keystore,kdbx}", onlyUntracked: true },
  { glob: ".{npmrc,pypirc,htpasswd}", onlyUntracked: true },
  { glob: "credentials.json", onlyUntracked: true }
]

/** Matches a path, relative to the root of the workspace; undefined for one that is not secret. */
export type SecretPathMatcher = (path: string) => SecretPath | undefined

/** A matcher of the default secret paths and further globs. The last glob that matches a path decides. */
export const secretPathMatcher = (globs: ReadonlyArray<string> = []): SecretPathMatcher => {
  const paths = [...defaultSecretPaths, ...globs.map((glob): SecretPath => ({ glob }))].map((path) => {
    const isException = path.glob.startsWith("!")
    return { path, isException, source: sourceOf(isException ? path.glob.slice(1) : path.glob) }
  })
  // Nearly all paths match none, which one expression tells.
  const any = new RegExp(paths.flatMap(({ isException, source }) => (isException ? [] : source)).join("|"), "su")
  const each = paths.map(({ path, isException, source }) => ({
    path,
    isException,
    expression: new RegExp(source, "su")
  }))
  return (given) => {
    const path = `/${folded(given)}`
    if (!any.test(path)) return undefined
    const last = each.findLast(({ expression }) => expression.test(path))
    return last === undefined || last.isException ? undefined : last.path
  }
}

// Some file systems find a file by its name in another case or normalization.
const folded = (text: string): string => text.normalize("NFC").toLowerCase()

/** The source of an expression for a glob, which is compared with a path that begins with a slash. */
const sourceOf = (glob: string): string => {
  const isAnchored = glob.startsWith("/")
  let depth = 0
  const source = folded(glob.endsWith("/") ? `${glob}**` : glob).replaceAll(
    /^\/+|\*\*\/|\*\*|[*?{},]|[\\^$.|+()[\]]/gu,
    (token, offset: number) => {
      if (offset === 0 && token.startsWith("/")) return ""
      if (token === "**/") return "(?:.*/)?"
      if (token === "**") return ".+"
      if (token === "*") return "[^/]*"
      if (token === "?") return "[^/]"
      if (token === "{") return (depth++, "(?:")
      if (token === "}") return depth > 0 ? (depth--, ")") : String.raw`\}`
      if (token === ",") return depth > 0 ? "|" : ","
      return `\\${token}`
    }
  )
  return `${isAnchored ? "^/" : "/"}${source}${")".repeat(depth)}$`
}
