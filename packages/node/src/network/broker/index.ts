export { CertificateAuthority } from "./certificate-authority.ts"
export { CredentialBroker } from "./credential-broker.ts"
export { readSecret } from "./read-secret.ts"
