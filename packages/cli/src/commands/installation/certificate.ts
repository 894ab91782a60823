import { X509Certificate } from 'node:crypto'
import { certificateFile, ensureCertificate } from '@postrider/core'
import type { Command } from '../../command.ts'

export const certificateCommands: readonly Command[] = [
  {
    name: 'certificate',
    usage: '',
    summary: "Show the relay's certificate: its file, host names and expiry",
    detail: 'Creates one if there is none and TLS_CERT is not set',
    async run({ config }) {
      const { cert } = await ensureCertificate(config)
      const { subjectAltName = '', validTo, fingerprint256, issuer, subject } = new X509Certificate(cert)
      const data = {
        file: certificateFile(config),
        names: subjectAltName.split(', '),
        validUntil: new Date(validTo).toISOString(),
        sha256: fingerprint256,
        selfSigned: issuer === subject,
        pem: cert,
      }
      const trust = data.selfSigned
        ? '\nThe certificate is self-signed: have clients that verify certificates trust this file, or set TLS_CERT and TLS_KEY.'
        : ''
      return {
        data,
        text: `${data.file}\n${data.names.join(', ')}, until ${data.validUntil}\nSHA-256 ${data.sha256}${trust}\n\n${cert}`,
      }
    },
  },
]
