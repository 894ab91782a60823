import { createPrivateKey, type KeyObject, X509Certificate } from 'node:crypto'
import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Config, ConfigError } from '../config/config.ts'
import { readKept, writeOnce } from '../storage/write-once.ts'

export interface Certificate {
  /** PEM. */
  readonly cert: string
  readonly key: string
}

/**
 * Path of the relay's certificate (PEM) for clients that need it as a trust anchor: TLS_CERT, or the self-signed
 * certificate.
 */
export function certificateFile({ tlsCert, dataDir }: Config): string {
  return tlsCert ?? join(dataDir, 'certificate.pem')
}

/**
 * Returns the pair of TLS_CERT and TLS_KEY, or a self-signed pair in DATA_DIR, which is created on first use. Two
 * processes that start at the same time end up with the same pair.
 *
 * Throws {@link ConfigError} if a file contains no certificate or no key, or if the key does not match the certificate.
 */
export async function ensureCertificate(config: Config): Promise<Certificate> {
  if (config.tlsCert && config.tlsKey) return readCertificate(config.tlsCert, config.tlsKey)
  const file = join(config.dataDir, 'certificate.json')
  if (!existsSync(file)) await makeCertificate(file, config)
  const pair = parsePair(file, readKept(file, REMEDY))
  showCertificate(certificateFile(config), pair)
  return pair
}

/**
 * Writes the certificate for clients to read. The service itself uses only the pair, so an unwritable directory is not
 * an error.
 */
function showCertificate(file: string, { cert }: Certificate): void {
  try {
    if (existsSync(file) && readFileSync(file, 'utf8') === cert) return
    // Written under a temporary name so that readers never see an incomplete file.
    const temporary = `${file}.${process.pid}`
    writeFileSync(temporary, cert)
    renameSync(temporary, file)
  } catch {
    // A program that needs the file reports that it is missing.
  }
}

const REMEDY = 'delete it to have a new self-signed certificate created at the next start, or set TLS_CERT and TLS_KEY'

function parsePair(file: string, text: string): Certificate {
  try {
    const { cert, key } = JSON.parse(text) as Certificate
    if (new X509Certificate(cert).checkPrivateKey(createPrivateKey(key))) return { cert, key }
  } catch {
    // Reported below: the parser's error does not help the operator.
  }
  throw new ConfigError(file, `is damaged: ${REMEDY}`)
}

function readCertificate(certFile: string, keyFile: string): Certificate {
  let first: X509Certificate
  let privateKey: KeyObject
  try {
    first = new X509Certificate(readFileSync(certFile))
  } catch (error) {
    throw new ConfigError('TLS_CERT', `must be a PEM file with a certificate chain: ${(error as Error).message}`)
  }
  try {
    privateKey = createPrivateKey(readFileSync(keyFile))
  } catch (error) {
    throw new ConfigError('TLS_KEY', `must be a PEM file with an unencrypted private key: ${(error as Error).message}`)
  }
  if (!first.checkPrivateKey(privateKey)) throw new ConfigError('TLS_KEY', 'does not match the certificate in TLS_CERT')
  return { cert: readFileSync(certFile, 'utf8'), key: readFileSync(keyFile, 'utf8') }
}

async function makeCertificate(file: string, { heloName }: Config): Promise<void> {
  // Imported only for this, at most once per installation: it is a third of the modules of core.
  const { generate } = await import('selfsigned')
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
  // One file for both, so that the certificate and the key always come from the same start.
  writeOnce(file, JSON.stringify({ cert: made.cert, key: made.private }))
}
