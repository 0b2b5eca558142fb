import { makeToolError, type ToolError } from "@haft/core"

export const networkError = (url: URL, reason: string): ToolError<"network_error"> =>
  makeToolError("network_error", `${url.href} could not be fetched: ${reason}`, {
    suggestion: "Check the URL, or try again later.",
    details: { url: url.href, reason },
    retryable: true
  })

const reasons: Readonly<Record<string, string>> = {
  ECONNREFUSED: "connection refused",
  ECONNRESET: "connection reset",
  EPIPE: "connection reset",
  ENOTFOUND: "host not found",
  EAI_AGAIN: "the name server did not answer",
  EHOSTUNREACH: "host unreachable",
  ENETUNREACH: "network unreachable",
  ETIMEDOUT: "connection timed out",
  UND_ERR_CONNECT_TIMEOUT: "connection timed out",
  UND_ERR_SOCKET: "the server closed the connection",
  UND_ERR_HEADERS_OVERFLOW: "the response headers are too large",
  UND_ERR_RES_CONTENT_LENGTH_MISMATCH: "the response is not as long as it says",
  DEPTH_ZERO_SELF_SIGNED_CERT: "the certificate is not trusted",
  SELF_SIGNED_CERT_IN_CHAIN: "the certificate is not trusted",
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: "the certificate is not trusted",
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: "the certificate is not trusted",
  CERT_HAS_EXPIRED: "the certificate has expired",
  ERR_TLS_CERT_ALTNAME_INVALID: "the certificate is for another host",
  ERR_STREAM_PREMATURE_CLOSE: "the response ended too early"
}

/** Message for a network error. Codes are kept where there is no text for them. */
export const reasonOf = (error: unknown): string => {
  if (error instanceof AggregateError && error.errors.length > 0) return reasonOf(error.errors[0])
  const code = error instanceof Error && "code" in error && typeof error.code === "string" ? error.code : ""
  // The parser has no code for some of what it does not accept.
  if (code.startsWith("HPE_") || (error instanceof Error && error.name === "HTTPParserError"))
    return "the answer is not valid HTTP"
  if (/^(?:Z_|ERR__ERROR|ERR_BROTLI|ZSTD_)/.test(code)) return "the response can't be decompressed"
  return reasons[code] ?? (code === "" ? "the connection failed" : `the connection failed (${code})`)
}
