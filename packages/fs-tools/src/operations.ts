// What this package can do, unaware of any contract: for tools in a dialect of your own. Each needs a Workspace, and a
// tool made of one says in its touches which paths it reads and writes.
export { type AppliedPatch, applyPatch, parsePatch, previewPatch } from "./apply-patch/apply-patch.ts"
export { type Section, touchedBy } from "./apply-patch/patch.ts"
export { type CreatedDirectory, createDirectory, previewDirectory } from "./create-directory/create-directory.ts"
export { type DeleteOptions, deletePath, previewDelete } from "./delete-path/delete-path.ts"
export { type EditedText, type EditOptions, editText, previewEdits, type TextEdit } from "./edit-text/edit-text.ts"
export {
  listBreadthFirst,
  type ListedEntry,
  listFiles,
  type Listing,
  listInOrder,
  listMatching,
  type ListOptions
} from "./list-directory/list-directory.ts"
export { type MoveOptions, movePath, previewMove } from "./move-path/move-path.ts"
export { type Lines, readBytes, readLines, type ReadLinesOptions } from "./read-file/read-file.ts"
export { previewUndo, undo, undonePaths, type UndoTarget } from "./undo/undo.ts"
export { previewWrite, writeFile, type WriteOptions, type WrittenFile } from "./write-file/write-file.ts"
