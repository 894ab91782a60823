import { X509Certificate } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { isIP } from 'node:net'
import { connect } from 'node:tls'
import { certificateFile } from '@postrider/core'
import { local } from '../first-run.ts'
import type { Check } from './check.ts'
import { bad, type CheckResult, NotChecked, ok, warn } from './check-result.ts'
import { RESPONSE_MS, type Readings } from './readings.ts'

/** Days that a certificate is valid for. Those that are renewed automatically have 30 days left when that is due. */
const DAYS = { warn: 21, bad: 3 }
const DAY_MS = 86_400_000

export const certificateChecks: readonly Check[] = [
  { area: 'network', name: 'certificate of the relay', run: checkRelayCertificate },
  { area: 'network', name: 'certificate of the public URL', run: checkPublicCertificate },
]

interface Served {
  readonly certificate: X509Certificate
  /** Why it is not trusted here; undefined if it is. */
  readonly problem: string | undefined
}

async function checkRelayCertificate({ config }: Readings): Promise<CheckResult> {
  const { relayHost, relayTlsPort, heloName, delivery, tlsCert } = config
  const file = certificateFile(config)
  const stored = existsSync(file) ? new X509Certificate(readFileSync(file)) : undefined
  const served = await servedCertificate(local(relayHost), relayTlsPort, heloName)
  const certificate = served?.certificate ?? stored
  if (certificate === undefined)
    throw new NotChecked('the relay does not respond, and there is no certificate on this host')
  const fix = tlsCert
    ? 'renew the files of TLS_CERT and TLS_KEY, and restart the relay'
    : `set TLS_CERT and TLS_KEY to a certificate for ${heloName}, and restart the relay`
  const inTime = checkDates(certificate, fix)
  if (inTime.status !== 'ok') return inTime
  if (served && stored && served.certificate.fingerprint256 !== stored.fingerprint256)
    return warn(`the relay still uses another certificate than ${file}`, 'restart the relay')
  if (certificate.issuer === certificate.subject)
    return delivery.kind === 'sandbox'
      ? ok(`self-signed, ${inTime.detail}`)
      : warn(
          'self-signed: clients that verify certificates refuse it, and each host makes its own',
          `${fix}; all relays of one name need the same TLS_CERT and TLS_KEY`,
        )
  if (certificate.checkHost(heloName) === undefined)
    return warn(`issued for ${certificate.subjectAltName ?? 'no name'}, not for ${heloName} (HELO_NAME)`, fix)
  if (served?.problem !== undefined)
    return warn(
      `clients may not trust it (${served.problem})`,
      'TLS_CERT needs the intermediate certificates after its own',
    )
  return inTime
}

async function checkPublicCertificate({ config }: Readings): Promise<CheckResult | undefined> {
  const { protocol, hostname, port } = new URL(config.publicUrl)
  if (protocol !== 'https:') return undefined
  const host = hostname.replace(/^\[|\]$/g, '')
  const served = await servedCertificate(host, Number(port || 443), host)
  if (served === undefined) throw new NotChecked(`${hostname} does not respond`)
  const fix = `renew the certificate of ${hostname} where its TLS ends (the reverse proxy)`
  if (served.problem !== undefined && Date.parse(served.certificate.validTo) > Date.now())
    return bad(`browsers refuse it (${served.problem})`, fix)
  return checkDates(served.certificate, fix)
}

function checkDates({ validFrom, validTo }: X509Certificate, fix: string): CheckResult {
  const days = Math.floor((Date.parse(validTo) - Date.now()) / DAY_MS)
  if (Date.parse(validFrom) > Date.now()) return bad(`not valid before ${new Date(validFrom).toISOString()}`, fix)
  if (days < 0) return bad(`it expired on ${new Date(validTo).toISOString()}`, fix)
  const text = `valid for ${days} days`
  if (days < DAYS.bad) return bad(text, fix)
  return days < DAYS.warn ? warn(text, fix) : ok(text)
}

/** Returns the certificate that a TLS server offers, valid or not; undefined if there is none in time. */
function servedCertificate(host: string, port: number, name: string): Promise<Served | undefined> {
  return new Promise((resolve) => {
    const servername = isIP(name) === 0 ? { servername: name } : {}
    const socket = connect({ host, port, rejectUnauthorized: false, ...servername })
    const done = (served?: Served) => {
      clearTimeout(timer)
      socket.destroy()
      resolve(served)
    }
    const timer = setTimeout(done, RESPONSE_MS)
    socket.once('secureConnect', () => {
      const certificate = socket.getPeerX509Certificate()
      const problem = socket.authorized ? undefined : String(socket.authorizationError)
      done(certificate && { certificate, problem })
    })
    socket.once('error', () => done())
    socket.once('close', () => done())
  })
}
