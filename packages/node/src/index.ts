export { fileState } from "./file-state.ts"
