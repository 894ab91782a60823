import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { generate } from 'selfsigned'
import type { Config } from './config.ts'
import { writeOnce } from './write-once.ts'

export interface Certificate {
  /** PEM. */
  readonly cert: string
  readonly key: string
}

/** TLS_CERT and TLS_KEY, else a self-signed pair in DATA_DIR, made on first use. Two first starts at once agree on one pair. */
export async function ensureCertificate(config: Config): Promise<Certificate> {
  if (config.tlsCert && config.tlsKey) {
    return { cert: readFileSync(config.tlsCert, 'utf8'), key: readFileSync(config.tlsKey, 'utf8') }
  }
  const file = join(config.dataDir, 'certificate.json')
  if (!existsSync(file)) await makeCertificate(file, config)
  return JSON.parse(readFileSync(file, 'utf8')) as Certificate
}

async function makeCertificate(file: string, { heloName }: Config): Promise<void> {
  const notAfterDate = new Date(Date.now() + 3650 * 86_400_000)
  const made = await generate([{ name: 'commonName', value: heloName }], {
    keyType: 'ec',
    notAfterDate,
    extensions: [
      { name: 'basicConstraints', cA: false },
      {
        name: 'subjectAltName',
        altNames: [
          { type: 2, value: heloName },
          { type: 2, value: 'localhost' },
          { type: 7, ip: '127.0.0.1' },
        ],
      },
    ],
  })
  // One file for both, so that nobody ever reads a certificate of one start and a key of another.
  writeOnce(file, JSON.stringify({ cert: made.cert, key: made.private }))
}
