declare module 'mailauth/lib/dkim/body/index.js' {
  /** The hash of a body (RFC 6376 3.7); `length` is the value of l=. */
  export function dkimBody(
    canonicalization: string,
    algorithm: string,
    length?: number,
  ): { update(chunk: Buffer): void; digest(encoding: 'base64'): string }
}
