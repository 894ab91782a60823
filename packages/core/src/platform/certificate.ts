import { createPrivateKey, type KeyObject, X509Certificate } from 'node:crypto'
import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { generate } from 'selfsigned'
import { type Config, ConfigError } from './config.ts'
import { readKept, writeOnce } from './write-once.ts'

export interface Certificate {
  /** PEM. */
  readonly cert: string
  readonly key: string
}

/** The PEM file of the relay's certificate: TLS_CERT, else that of the self-signed one, for clients that are told whom to trust. */
export function certificateFile({ tlsCert, dataDir }: Config): string {
  return tlsCert ?? join(dataDir, 'certificate.pem')
}

/**
 * TLS_CERT and TLS_KEY, else a self-signed pair in DATA_DIR, made on first use. Two first starts at once agree on one pair.
 *
 * Throws {@link ConfigError} when the files hold no certificate, no key, or a key of something else.
 */
export async function ensureCertificate(config: Config): Promise<Certificate> {
  if (config.tlsCert && config.tlsKey) return readCertificate(config.tlsCert, config.tlsKey)
  const file = join(config.dataDir, 'certificate.json')
  if (!existsSync(file)) await makeCertificate(file, config)
  const pair = parsePair(file, readKept(file, REMEDY))
  showCertificate(certificateFile(config), pair)
  return pair
}

/** For clients' eyes: the pair alone counts, so a folder that can't be written to holds nothing up. */
function showCertificate(file: string, { cert }: Certificate): void {
  try {
    if (existsSync(file) && readFileSync(file, 'utf8') === cert) return
    // Nobody reads half of it.
    const temporary = `${file}.${process.pid}`
    writeFileSync(temporary, cert)
    renameSync(temporary, file)
  } catch {
    // Said by whoever looks for the file.
  }
}

const REMEDY = 'remove it, and a new self-signed certificate is made at the next start; or set TLS_CERT and TLS_KEY'

function parsePair(file: string, text: string): Certificate {
  try {
    const { cert, key } = JSON.parse(text) as Certificate
    if (new X509Certificate(cert).checkPrivateKey(createPrivateKey(key))) return { cert, key }
  } catch {
    // Said below: what exactly is broken helps nobody.
  }
  throw new ConfigError(file, `is damaged: ${REMEDY}`)
}

function readCertificate(certFile: string, keyFile: string): Certificate {
  let first: X509Certificate
  let privateKey: KeyObject
  try {
    first = new X509Certificate(readFileSync(certFile))
  } catch (error) {
    throw new ConfigError('TLS_CERT', `must name a PEM file with a certificate chain: ${(error as Error).message}`)
  }
  try {
    privateKey = createPrivateKey(readFileSync(keyFile))
  } catch (error) {
    throw new ConfigError('TLS_KEY', `must name a PEM file with an unencrypted key: ${(error as Error).message}`)
  }
  if (!first.checkPrivateKey(privateKey))
    throw new ConfigError('TLS_KEY', 'is not the key of the certificate in TLS_CERT')
  return { cert: readFileSync(certFile, 'utf8'), key: readFileSync(keyFile, 'utf8') }
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
