export { type LegalNames, legalNames } from "./names.ts"
