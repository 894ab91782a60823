/**
 * Whether a text can be a host name: at most 253 characters, in labels of at most 63 that neither begin nor end with a hyphen (RFC 1123 2.1). Some names in
 * use have underscores.
 */
export function isHostName(host: string): boolean {
  return host.length <= 253 && host.split('.').every((label) => /^[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?$/i.test(label))
}
