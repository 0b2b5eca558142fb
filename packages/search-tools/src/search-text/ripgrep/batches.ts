import { argumentSize, maximumArguments } from "./ripgrep.ts"

/** Files in lists that each fit on ripgrep's command line. */
export const batchesOf = <File extends { readonly path: string }>(
  files: ReadonlyArray<File>
): ReadonlyArray<ReadonlyArray<File>> => {
  const all: Array<Array<File>> = []
  let batch: Array<File> = []
  let room = 0
  for (const file of files) {
    const size = argumentSize(file.path)
    if (size > room) {
      all.push((batch = []))
      room = maximumArguments
    }
    batch.push(file)
    room -= size
  }
  return all
}
