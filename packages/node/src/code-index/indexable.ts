/** Names of files that hold keys and passwords: never read for the index, ignored by git or not. */
const secret =
  /(?:^|\/)(?:\.env(?:\.(?!example$|sample$|template$)[^/]*)?|\.netrc|\.npmrc|\.pypirc|\.htpasswd|\.git-credentials|id_(?:rsa|dsa|ecdsa|ed25519)|credentials(?:\.json)?|[^/]*\.(?:pem|key|p12|pfx|jks|keystore|kdbx))$/i

/** Extensions of files without text. */
const binary =
  /\.(?:png|jpe?g|gif|webp|ico|bmp|tiff?|avif|psd|pdf|zip|gz|tgz|bz2|xz|zst|7z|rar|jar|war|class|o|a|so|dylib|dll|exe|wasm|pyc|woff2?|ttf|otf|eot|mp[34]|m4a|wav|ogg|webm|mov|avi|sqlite3?|db|bin|dat|parquet|npy|onnx)$/i

/** True for files that belong in the index. */
export const isIndexable = (path: string): boolean => !secret.test(path) && !binary.test(path)
