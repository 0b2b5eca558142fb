/** How much harm a tool can do. The contract's own words are made from these three. */
export type Risk = "read_only" | "safe_write" | "dangerous"

/** Resources that a call will read, write, run, fetch or type, declared by the tool before it runs. */
export interface Touches {
  readonly reads?: ReadonlyArray<string>
  readonly writes?: ReadonlyArray<string>
  /** Paths that are deleted, moved away or replaced: a link counts as itself here, not as what it leads to. */
  readonly removes?: ReadonlyArray<string>
  /** The command line, in full. */
  readonly runs?: string
  /** True if the command may use the network. */
  readonly network?: boolean
  readonly confined?: Confinement
  /** The URL, in full. */
  readonly fetches?: string
  readonly types?: { readonly terminal: string; readonly text: string }
}

/**
 * How a sandbox confines what runs: `read_only` can't change the workspace, `overlay` changes a copy, whose effects are
 * assessed, committed and undone like those of a file tool, `workspace` changes the workspace and nothing beside it.
 * Absent where nothing holds it.
 */
export type Confinement = "read_only" | "overlay" | "workspace"

/** Touches after the workspace has looked at them: every path contained, every target known. */
export interface Facts {
  readonly reads: ReadonlyArray<string>
  readonly writes: ReadonlyArray<WrittenPath>
  readonly runs?: string
  /** True where what runs may use the network, absent otherwise. */
  readonly network?: true
  readonly confined?: Confinement
  readonly fetches?: string
  /** Host and port that a running call wants to connect to, `example.com:443`. */
  readonly connects?: string
  readonly types?: { readonly terminal: string; readonly text: string }
  /** Those of the paths above that are directories, or will be: what is done to one is done to all below it. */
  readonly directories?: ReadonlyArray<string>
  /** Files that are deleted, replaced by a move or moved away, those below directories included; absent for none. */
  readonly removedFiles?: number
  /** Bytes of existing files that are written or removed, which undo has to keep; absent for none. */
  readonly replacedBytes?: number
  /** The tool's risk, raised to `dangerous` when a protected name is written. */
  readonly risk: Risk
}

export interface WrittenPath {
  /** Relative to the workspace, with `/`. */
  readonly path: string
  readonly exists: boolean
  /** True for control files, see `isProtectedPath`, and directories that hold one. */
  readonly isProtected: boolean
  /** The protected path below it, where a directory holds one. */
  readonly protectedPath?: string
}

/**
 * A command line as touches have it when variables are set for it. The values stand in the arguments, and may be
 * secrets; that there are any is what a policy has to know, because a program may do something else under them.
 */
export const withVariables = (command: string, variables: Readonly<Record<string, string>>): string =>
  [...Object.keys(variables).map((name) => `${/^[A-Za-z_]\w*$/.test(name) ? name : "_"}=…`), command].join(" ")

/** A command line as touches have it when it is given standard input: a policy can't tell what a program makes of it. */
export const withInput = (command: string, stdin: string | undefined): string =>
  stdin === undefined ? command : `${command} <<< …`
