import { createHash } from "node:crypto"
import * as nodeModule from "node:module"
import { isAbsolute } from "node:path"
import { fileURLToPath, pathToFileURL } from "node:url"

import { readNamedFile } from "@haft/node/internal"

import { ConfigError } from "./config.ts"
import { importFailure } from "./import-failure.ts"

/** A configuration in the workspace whose content a person has trusted. */
export interface Trusted {
  readonly content: Uint8Array
  /** Throws for a file that the agent could change. */
  readonly refuse: (target: string) => void
}

/**
 * Imports a configuration. A trusted one is loaded from the content that was checked, as the file may have changed
 * since, and may import nothing from the workspace.
 */
export const importConfig = async (file: string, trusted: Trusted | undefined): Promise<unknown> => {
  const query = trusted === undefined ? "" : `?${hashOf(trusted.content)}`
  const address = `${pathToFileURL(file).href}${query}`
  let itself = address
  if (!("registerHooks" in nodeModule)) {
    throw new ConfigError(
      `${file} can't be loaded: this runtime has no module hooks. Use Node, or pass the configuration as an object.`
    )
  }
  const hooks = nodeModule.registerHooks({
    resolve: (specifier, context, next) => {
      if (specifier === address) {
        // Node would follow links to another file. For a trusted one the address is kept, and `load` gives its content.
        const found = trusted === undefined ? next(specifier, context) : { url: address, shortCircuit: true }
        itself = found.url
        return found
      }
      if (context.parentURL !== itself)
        return isOurs(specifier) ? firstThat(next, specifier, [context]) : next(specifier, context)
      // `haft` means this very copy, except in a file that the person named: beside that, another may be installed.
      const here = { ...context, parentURL: import.meta.url }
      if (isOurs(specifier)) return firstThat(next, specifier, trusted === undefined ? [context, here] : [here])
      const resolved = next(specifier, context)
      if (resolved.url.startsWith("file:")) {
        trusted?.refuse(fileURLToPath(resolved.url))
        trusted?.refuse(doorTo(specifier, address))
      }
      return resolved
    },
    load: (url, context, next) => {
      const found = next(url, context)
      return url === address && trusted !== undefined ? { ...found, source: trusted.content } : found
    }
  })
  try {
    if (file.endsWith(".json"))
      return JSON.parse(trusted === undefined ? await readNamedFile(file) : textOf(trusted)) as unknown
    const module = (await import(address)) as { readonly default?: unknown }
    return module.default
  } catch (cause) {
    if (cause instanceof ConfigError) throw cause
    throw new ConfigError(`${file} can't be loaded: ${importFailure(cause, address)}`, { cause })
  } finally {
    hooks.deregister()
  }
}

/**
 * The file that decides what a specifier stands for: for a path, the path itself, which may be a link; for a package,
 * its package.json. The agent must not be able to change that either.
 */
export const doorTo = (specifier: string, address: string): string => {
  if (isAbsolute(specifier)) return specifier
  if (/^(?:\.|file:)/.test(specifier)) return fileURLToPath(new URL(specifier, address))
  return (
    (specifier.startsWith("#") ? undefined : nodeModule.findPackageJSON(specifier, address)) ?? fileURLToPath(address)
  )
}

const textOf = ({ content }: Trusted): string => new TextDecoder().decode(content)

const isOurs = (specifier: string): boolean => /^(?:haft|@haft\/[\w-]+)(?:\/|$)/.test(specifier)

// Tries the contexts one after the other, each also with the sources: a checkout of haft may not be built yet.
const firstThat = (
  next: (specifier: string, context: nodeModule.ResolveHookContext) => nodeModule.ResolveFnOutput,
  specifier: string,
  [context, ...others]: readonly [nodeModule.ResolveHookContext, ...ReadonlyArray<nodeModule.ResolveHookContext>]
): nodeModule.ResolveFnOutput => {
  for (const way of [context, ...others]) {
    for (const conditions of [way.conditions, [...way.conditions, "@haft/source"]]) {
      try {
        return next(specifier, { ...way, conditions })
      } catch (cause) {
        if (!(cause instanceof Error && "code" in cause && cause.code === "ERR_MODULE_NOT_FOUND")) throw cause
      }
    }
  }
  return next(specifier, context)
}

/** By which a content is recognized as the one that was trusted. */
export const hashOf = (content: Uint8Array): string => createHash("sha256").update(content).digest("hex")
