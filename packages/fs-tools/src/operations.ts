// Operations of this package, unaware of any contract: for tools in a dialect of your own. Each needs a Workspace, and a
// tool made of one says in its touches which paths it reads and writes.
export { type AppendedText, planAppend } from "./append-file/append-file.ts"
export { describeHunk, parsePatch, patchOperation } from "./apply-patch/apply-patch.ts"
export { type PatchSection, touchedBy } from "./apply-patch/patch.ts"
export { type FoundHunk, planPatch } from "./apply-patch/plan-patch.ts"
export { type CreatedDirectory, planDirectory } from "./create-directory/create-directory.ts"
export { type DeleteOptions, planDelete } from "./delete-path/delete-path.ts"
export { type CopiedPath, type CopyPathOptions, copiedPaths, planCopy } from "./copy-path/copy-path.ts"
export { type CellEdit, editNotebook } from "./edit-notebook/edit-cells.ts"
export { type EditedText, type EditOptions, planEdits, type TextEdit } from "./edit-text/edit-text.ts"
export { type InsertError, planInsert, type TextInsertion } from "./edit-text/insert-text.ts"
export {
  listBreadthFirst,
  type ListedEntry,
  listFiles,
  type Listing,
  listInOrder,
  listMatching,
  type ListOptions
} from "./list-directory/list-directory.ts"
export { type MovedPath, type MovePathOptions, planMove } from "./move-path/move-path.ts"
export { type Committed, type PlanChanges, type PlannedOperation, planOnce, type PlanPreview } from "./plan-once.ts"
export { type Lines, readBytes, readLines, type ReadLinesOptions } from "./read-file/read-file.ts"
export { previewUndo, undo, undonePaths, type UndoRequest } from "./undo/undo.ts"
export { planWrite, type WriteFileOptions, type WrittenFile } from "./write-file/write-file.ts"
