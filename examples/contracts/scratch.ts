import { mkdir, mkdtemp, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"

/** A workspace with one file in it, and a state directory of its own. */
export const scratch = async (): Promise<{ readonly root: string; readonly state: string }> => {
  const directory = await mkdtemp(join(tmpdir(), "haft-example-"))
  await mkdir(join(directory, "root"))
  await writeFile(join(directory, "root/notes.txt"), "one\ntwo\n")
  return { root: join(directory, "root"), state: join(directory, "state") }
}
