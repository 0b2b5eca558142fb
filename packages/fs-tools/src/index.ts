import { definePlugin } from "@haft/core"
import * as Layer from "effect/Layer"

import { haftAppendFile } from "./append-file/haft.append_file.ts"
import { agentbenchApplyPatch } from "./apply-patch/agentbench.apply_patch.ts"
import { haftApplyPatch } from "./apply-patch/haft.apply_patch.ts"
import { toolrouterApplyPatchFreeform } from "./apply-patch/toolrouter.apply_patch_freeform.ts"
import { toolrouterApplyPatchJson } from "./apply-patch/toolrouter.apply_patch_json.ts"
import { haftCopyPath } from "./copy-path/haft.copy_path.ts"
import { cliagentCreateDirectory } from "./create-directory/cliagent.create_directory.ts"
import { haftCreateDirectory } from "./create-directory/haft.create_directory.ts"
import { approvalgateDeleteFile } from "./delete-path/approvalgate.delete_file.ts"
import { filetoolsFileDelete } from "./delete-path/filetools.file.delete.ts"
import { haftDeletePath } from "./delete-path/haft.delete_path.ts"
import { haftEditNotebook } from "./edit-notebook/haft.edit_notebook.ts"
import { cliagentReplaceStringInFile } from "./edit-text/cliagent.replace_string_in_file.ts"
import { filetoolsFilePatch } from "./edit-text/filetools.file.patch.ts"
import { haftEditFile } from "./edit-text/haft.edit_file.ts"
import { haftFileInfo } from "./file-info/haft.file_info.ts"
import { agentbenchListFiles } from "./list-directory/agentbench.list_files.ts"
import { approvalgateListDirectory } from "./list-directory/approvalgate.list_directory.ts"
import { cliagentListDir } from "./list-directory/cliagent.list_dir.ts"
import { filetoolsFileList } from "./list-directory/filetools.file.list.ts"
import { haftListDir } from "./list-directory/haft.list_dir.ts"
import { toolrouterListDir } from "./list-directory/toolrouter.list_dir.ts"
import { approvalgateMoveFile } from "./move-path/approvalgate.move_file.ts"
import { haftMovePath } from "./move-path/haft.move_path.ts"
import { agentbenchReadFile } from "./read-file/agentbench.read_file.ts"
import { approvalgateReadFile } from "./read-file/approvalgate.read_file.ts"
import { cliagentReadFile } from "./read-file/cliagent.read_file.ts"
import { filetoolsFileRead } from "./read-file/filetools.file.read.ts"
import { haftReadFile } from "./read-file/haft.read_file.ts"
import { toolrouterReadFile } from "./read-file/toolrouter.read_file.ts"
import { haftReadFiles } from "./read-files/haft.read_files.ts"
import { BinaryPatches, fsConfig, Media } from "./settings.ts"
import { haftUndo } from "./undo/haft.undo.ts"
import { approvalgateWriteFile } from "./write-file/approvalgate.write_file.ts"
import { cliagentCreateFile } from "./write-file/cliagent.create_file.ts"
import { filetoolsFileWrite } from "./write-file/filetools.file.write.ts"
import { haftWriteFile } from "./write-file/haft.write_file.ts"

/** Files and patches in every dialect. */
export const fsTools = definePlugin({
  name: "@haft/fs-tools",
  version: "0.0.0",
  config: fsConfig,
  layer: ({ binaryPatches, media }) =>
    Layer.merge(Layer.succeed(BinaryPatches, binaryPatches), Layer.succeed(Media, media)),
  tools: [
    haftListDir,
    haftReadFile,
    haftReadFiles,
    haftFileInfo,
    haftWriteFile,
    haftAppendFile,
    haftEditFile,
    haftEditNotebook,
    haftApplyPatch,
    haftDeletePath,
    haftMovePath,
    haftCopyPath,
    haftCreateDirectory,
    haftUndo,
    agentbenchListFiles,
    agentbenchReadFile,
    agentbenchApplyPatch,
    toolrouterListDir,
    toolrouterReadFile,
    toolrouterApplyPatchFreeform,
    toolrouterApplyPatchJson,
    approvalgateListDirectory,
    approvalgateReadFile,
    approvalgateWriteFile,
    approvalgateDeleteFile,
    approvalgateMoveFile,
    cliagentListDir,
    cliagentReadFile,
    cliagentCreateFile,
    cliagentReplaceStringInFile,
    cliagentCreateDirectory,
    filetoolsFileList,
    filetoolsFileRead,
    filetoolsFileWrite,
    filetoolsFilePatch,
    filetoolsFileDelete
  ]
})

export default fsTools
