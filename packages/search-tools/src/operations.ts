// Operations of this package, unaware of any contract: for tools in a dialect of your own. A plugin that has such tools
// has `searchServices` in its layer.
export { findFiles, type FindRequest, type FoundFiles } from "./find-files/find-files.ts"
export { newestFiles, type NewestRequest } from "./find-files/newest-files.ts"
export { type PathMatcher, pathMatcher } from "./find-files/path-matcher.ts"
export { findSymbol, type FoundSymbol, type SymbolRequest } from "./find-symbol/find-symbol.ts"
export { outline } from "./outline/outline.ts"
export { searchCode, searchTouches } from "./search-code/search-code.ts"
export { Ripgrep } from "./search-text/ripgrep/ripgrep.ts"
export { searchServices } from "./search-services.ts"
export { type SearchRequest, type SearchResult, type SearchServices, searchText } from "./search-text/search-text.ts"
