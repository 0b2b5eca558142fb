import { describe, expect, it } from "vitest"

import { secretPathMatcher } from "./secret-paths.ts"

const verdict = (path: string, globs: ReadonlyArray<string> = []): string => {
  const found = secretPathMatcher(globs)(path)
  if (found === undefined) return "open"
  return found.onlyUntracked === true ? "secret unless tracked" : "secret"
}

describe("secretPathMatcher", () => {
  it.each([
    ".env",
    ".ENV",
    "apps/web/.env",
    ".env.local",
    ".env.production.local",
    "id_rsa",
    "keys/ID_ED25519",
    ".netrc",
    ".aws/credentials",
    "home/.aws/sso/cache/token",
    ".ssh/config",
    ".kube/config"
  ])("says that %s is secret", (path) => {
    expect(verdict(path)).toBe("secret")
  })

  it.each(["server.pem", "tls/server.KEY", ".npmrc", "packages/a/.npmrc", "store.jks", "credentials.json"])(
    "says that %s is secret where git does not track it",
    (path) => {
      expect(verdict(path)).toBe("secret unless tracked")
    }
  )

  it.each([
    ".env.example",
    ".env.sample",
    "apps/.env.template",
    ".env.production.example",
    ".envrc",
    "env",
    "x.env",
    ".env/bin/python",
    "id_rsa.pub",
    "src/key.ts",
    "monkey",
    ".aws",
    "aws/credentials",
    ".sshd/config",
    "."
  ])("says that %s is not secret", (path) => {
    expect(verdict(path)).toBe("open")
  })

  it("compares names whatever their normalization", () => {
    expect(verdict("geheim/schlüssel.txt".normalize("NFD"), ["schlüssel.txt".normalize("NFC")])).toBe("secret")
  })

  it("lets the last glob that matches decide", () => {
    expect(verdict(".env.test", ["!.env.test"])).toBe("open")
    expect(verdict("a/.env.test", ["!.env.test", "/a/**"])).toBe("secret")
    expect(verdict("server.key", ["*.key"])).toBe("secret")
    expect(verdict(".ssh/config", ["!**"])).toBe("open")
  })

  it("begins a glob with a slash at the root, and takes a slash at the end for everything below", () => {
    expect(verdict("config/prod.yml", ["/config/prod.yml"])).toBe("secret")
    expect(verdict("a/config/prod.yml", ["/config/prod.yml"])).toBe("open")
    expect(verdict("a/config/prod.yml", ["config/prod.yml"])).toBe("secret")
    expect(verdict("a/private/b/c", ["private/"])).toBe("secret")
    expect(verdict("a/private", ["private/"])).toBe("open")
  })

  it("keeps * and ? within a name, ** over any number, and braces as alternatives", () => {
    expect(verdict("config/a/b.yml", ["/config/*.yml"])).toBe("open")
    expect(verdict("config/b.yml", ["/config/**/*.yml"])).toBe("secret")
    expect(verdict("config/a/b.yml", ["/config/**/*.yml"])).toBe("secret")
    expect(verdict("t1.token", ["t?.{token,secret}"])).toBe("secret")
    expect(verdict("t/.token", ["t?.token"])).toBe("open")
  })

  it("takes characters of regular expressions for themselves", () => {
    expect(verdict("a+b(c).txt", ["a+b(c).txt"])).toBe("secret")
    expect(verdict("aab.txt", ["a+b.txt"])).toBe("open")
    expect(verdict("x}y,z", ["x}y,z"])).toBe("secret")
    expect(verdict("x{a", ["x{a"])).toBe("open")
    expect(verdict("xa", ["x{a"])).toBe("secret")
  })
})
