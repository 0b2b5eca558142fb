/** Extensions of files without words: binary ones, and encoded keys. */
const wordless =
  /\.(?:png|jpe?g|gif|webp|ico|bmp|tiff?|avif|psd|pdf|zip|gz|tgz|bz2|xz|zst|7z|rar|jar|war|class|o|a|so|dylib|dll|exe|wasm|pyc|woff2?|ttf|otf|eot|mp[34]|m4a|wav|ogg|webm|mov|avi|sqlite3?|db|bin|dat|parquet|npy|onnx|pem|key)$/i

/** True for files that belong in the index, as far as their names tell. */
export const isIndexable = (path: string): boolean => !wordless.test(path)
