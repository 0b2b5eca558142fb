/** The directories that a relative path lies in, innermost first, without the root. */
export const directoriesAbove = (path: string): ReadonlyArray<string> => {
  const directories: Array<string> = []
  for (let end = path.lastIndexOf("/"); end > 0; end = path.lastIndexOf("/", end - 1)) {
    directories.push(path.slice(0, end))
  }
  return directories
}
