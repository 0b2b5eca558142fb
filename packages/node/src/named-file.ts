import { readFile } from "node:fs/promises"

/** A file that a person named outright, such as one on a command line. Nothing that an agent says leads here. */
export const readNamedFile = (path: string): Promise<string> => readFile(path, "utf8")
