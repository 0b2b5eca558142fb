import type { Change } from "@haft/core"

export type Version = "old" | "new"

const write = (path: string, text: string, mode?: number): Change => ({
  kind: "write",
  path,
  content: new TextEncoder().encode(text),
  createDirectories: true,
  ...(mode !== undefined && { mode })
})

/** The mode of the script among the files. */
export const modeOf = (version: Version): number => (version === "old" ? 0o640 : 0o750)

/** Two versions that differ in all ways: changed, new, removed and moved files and directories, links and a mode. */
export const filesOf = (version: Version): Record<string, string | null> => {
  const text = `${version} `.repeat(2000)
  const common = {
    "a.txt": `a ${text}`,
    "d/b.txt": `b ${text}`,
    "hard.txt": `h ${text}`,
    "run.sh": "the same",
    d: null
  }
  return version === "old"
    ? {
        ...common,
        "goes.txt": "goes",
        "moves.txt": "moves",
        "over.txt": "over",
        "under.txt": "under",
        link: "-> a.txt",
        tree: null,
        "tree/x": "x",
        "tree/y": null,
        "tree/y/z": "z",
        dir: null,
        "dir/in": "in"
      }
    : {
        ...common,
        [adopted.path]: adopted.text,
        "d/moved.txt": "moves",
        "under.txt": "over",
        made: null,
        "made/deep": null,
        "made/deep/f": "f",
        "moved-dir": null,
        "moved-dir/in": "in"
      }
}

/** The file that the new version adopts from a scratch directory, and what it holds. */
export const adopted = { path: "comes.txt", text: "comes" }

export const scratchOf = (root: string): string => `${root}.scratch`

/** The changes of one commit that lead to a version from the other one, without the file that is adopted. */
export const changesTo = (version: Version): ReadonlyArray<Change> => {
  const text = `${version} `.repeat(2000)
  const common = [
    write("a.txt", `a ${text}`),
    write("d/b.txt", `b ${text}`),
    write("hard.txt", `h ${text}`),
    write("run.sh", "the same", modeOf(version))
  ]
  return version === "new"
    ? [
        ...common,
        { kind: "delete", path: "goes.txt" },
        { kind: "delete", path: "link" },
        { kind: "move", from: "moves.txt", to: "d/moved.txt" },
        { kind: "move", from: "over.txt", to: "under.txt", overwrite: true },
        { kind: "delete", path: "tree", recursive: true },
        write("made/deep/f", "f"),
        { kind: "move", from: "dir", to: "moved-dir" }
      ]
    : [
        ...common,
        { kind: "delete", path: adopted.path },
        write("goes.txt", "goes"),
        { kind: "symlink", path: "link", target: "a.txt" },
        { kind: "move", from: "d/moved.txt", to: "moves.txt" },
        { kind: "move", from: "under.txt", to: "over.txt" },
        write("under.txt", "under"),
        write("tree/x", "x"),
        write("tree/y/z", "z"),
        { kind: "delete", path: "made", recursive: true },
        { kind: "move", from: "moved-dir", to: "dir" }
      ]
}
