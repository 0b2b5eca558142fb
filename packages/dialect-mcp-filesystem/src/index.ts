import { definePlugin } from "@haft/core"

import { createDirectory } from "./tools/create-directory.ts"
import { directoryTree } from "./tools/directory-tree.ts"
import { editFile } from "./tools/edit-file.ts"
import { getFileInfo } from "./tools/get-file-info.ts"
import { listAllowedDirectories } from "./tools/list-allowed-directories.ts"
import { listDirectory, listDirectoryWithSizes } from "./tools/list-directory.ts"
import { moveFile } from "./tools/move-file.ts"
import { readMediaFile } from "./tools/read-media-file.ts"
import { readMultipleFiles } from "./tools/read-multiple-files.ts"
import { readFile, readTextFile } from "./tools/read-text.ts"
import { searchFiles } from "./tools/search-files.ts"
import { writeFile } from "./tools/write-file.ts"

export { followedRelease, mcpFilesystem } from "./dialect.ts"

/** The fourteen tools of the reference server. They need a Workspace and nothing else. */
export const mcpFilesystemTools = definePlugin({
  name: "@haft/dialect-mcp-filesystem",
  version: "0.0.0",
  tools: [
    readFile,
    readTextFile,
    readMediaFile,
    readMultipleFiles,
    writeFile,
    editFile,
    createDirectory,
    listDirectory,
    listDirectoryWithSizes,
    directoryTree,
    moveFile,
    searchFiles,
    getFileInfo,
    listAllowedDirectories
  ]
})

export default mcpFilesystemTools
