import { createHash, X509Certificate } from 'node:crypto'

/** A TLSA record of a certificate in PEM, as in a zone file. */
export function tlsaOf(pem: string, usage: number, selector: number, matching: number): string {
  const certificate = new X509Certificate(pem)
  const selected = selector === 0 ? certificate.raw : certificate.publicKey.export({ type: 'spki', format: 'der' })
  const data =
    matching === 0
      ? selected
      : createHash(matching === 1 ? 'sha256' : 'sha512')
          .update(selected)
          .digest()
  return `${usage} ${selector} ${matching} ${data.toString('hex')}`
}
