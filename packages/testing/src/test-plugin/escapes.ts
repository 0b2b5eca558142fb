/** The content of a file outside the workspace, which must never appear in a reply. */
export const secret = "canary-6d0f1c-outside-the-workspace"

/** Paths that try to leave a workspace, for a directory `outside` beside it and links that lead there. */
export const escapes = (outside: string): ReadonlyArray<string> => [
  "../outside/secret.txt",
  "./../outside/secret.txt",
  "sub/../../outside/secret.txt",
  "../workspace/../outside/secret.txt",
  `${outside}/secret.txt`,
  `/${outside}/secret.txt`,
  `file://${outside}/secret.txt`,
  "link-to-directory/secret.txt",
  "link-to-file",
  "link-to-directory/../outside/secret.txt",
  "..\\outside\\secret.txt",
  "%2e%2e/outside/secret.txt",
  "..%2foutside%2fsecret.txt",
  "../outside/secret.txt\0.txt",
  "\u2025/outside/secret.txt",
  "../../../../../../../../etc/passwd",
  "/etc/passwd",
  "/proc/self/environ",
  "/proc/self/root/etc/passwd",
  "~/.profile",
  "C:\\Windows\\win.ini",
  "\\\\server\\share\\file",
  "\\\\?\\C:\\Windows\\win.ini",
  "CON",
  "a:b"
]

/** Tests whether a text shows something from outside: our secret, or the machine's /etc/passwd. */
export const leaks = (text: string): boolean => text.includes(secret) || text.includes("root:x:0:")
