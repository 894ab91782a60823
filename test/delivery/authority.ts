import { mkdtempSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { isIP } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

export interface IssuedCertificate {
  readonly cert: string
  readonly key: string
}

/** A certificate authority of a test. */
export interface Authority {
  readonly cert: string
  /** For NODE_EXTRA_CA_CERTS of the processes that trust it. */
  readonly file: string
  issue(
    names: readonly string[],
    options?: {
      readonly expired?: boolean
      /** Days that are left, of as many. */
      readonly days?: number
      readonly of?: number
      readonly subject?: string
    },
  ): Promise<IssuedCertificate>
}

interface Generated {
  readonly cert: string
  readonly private: string
}

/** The generator that the service makes its own certificate with. */
const { generate } = createRequire(import.meta.resolve('@postrider/core'))('selfsigned') as {
  generate(subject: readonly object[], options: object): Promise<Generated>
}

const KEYS = { keyType: 'ec', algorithm: 'sha256' }

export async function makeAuthority(): Promise<Authority> {
  const root = await generate([{ name: 'commonName', value: 'Test Authority' }], {
    ...KEYS,
    extensions: [
      { name: 'basicConstraints', cA: true, critical: true },
      { name: 'keyUsage', keyCertSign: true, cRLSign: true, critical: true },
    ],
  })
  const file = join(mkdtempSync(join(process.env.TEST_FOLDER ?? tmpdir(), 'authority-')), 'ca.pem')
  writeFileSync(file, root.cert)
  return {
    cert: root.cert,
    file,
    async issue(names, { expired = false, days, of, subject = 'mail' } = {}) {
      const made = await generate([{ name: 'commonName', value: subject }], {
        ...KEYS,
        ca: { key: root.private, cert: root.cert },
        extensions: [
          {
            name: 'subjectAltName',
            altNames:
              names.length === 0
                ? [{ type: 6, value: 'https://mail.example/' }]
                : names.map((value) => (isIP(value) > 0 ? { type: 7, ip: value } : { type: 2, value })),
          },
        ],
        ...(days === undefined ? {} : { notAfterDate: new Date(Date.now() + days * 86_400_000 + 60_000) }),
        ...(days && of ? { notBeforeDate: new Date(Date.now() - (of - days) * 86_400_000) } : {}),
        ...(expired ? { notBeforeDate: new Date('2020-01-01'), notAfterDate: new Date('2021-01-01') } : {}),
      })
      return { cert: made.cert, key: made.private }
    },
  }
}

/** Signed by itself. */
export async function selfSigned(name: string): Promise<IssuedCertificate> {
  const made = await generate([{ name: 'commonName', value: name }], {
    ...KEYS,
    extensions: [{ name: 'subjectAltName', altNames: [{ type: 2, value: name }] }],
  })
  return { cert: made.cert, key: made.private }
}
