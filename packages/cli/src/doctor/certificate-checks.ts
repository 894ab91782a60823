import { X509Certificate } from 'node:crypto'
import { accessSync, constants, existsSync, readFileSync } from 'node:fs'
import { isIP } from 'node:net'
import { connect } from 'node:tls'
import { type Config, ConfigError, certificateFile, ensureCertificate } from '@postrider/core'
import { local } from '../first-run.ts'
import type { Check } from './check.ts'
import { bad, type CheckResult, NotChecked, ok, spanText, warn } from './check-result.ts'
import { RESPONSE_MS, type Readings } from './readings.ts'

/**
 * Days that a certificate is valid for. Those that are renewed automatically have a third of their time left when that is due: 30 days of 90, two of six,
 * four hours of twelve. So of short ones it is a part of their time, where that is less.
 */
const DAYS = { warn: 21, bad: 3 }
const PART = { warn: 1 / 4, bad: 1 / 12 }
const DAY_MS = 86_400_000

/** New processes read files again, but have the settings of the old ones. */
const REPLACE = 'replace the relay: SIGHUP to "postrider up", or a restart of its own unit'

export const certificateChecks: readonly Check[] = [
  { area: 'network', name: 'certificate of the relay', run: checkRelayCertificate },
  { area: 'network', name: 'certificate of the public URL', run: checkPublicCertificate },
]

interface Served {
  readonly certificate: X509Certificate
  /** Why it is not trusted here; undefined if it is. */
  readonly problem: string | undefined
}

/** Both what the relay offers and what is in its files, with which it will start the next time. */
async function checkRelayCertificate({ config }: Readings): Promise<CheckResult> {
  const { relayHost, relayTlsPort, heloName, tlsCert } = config
  const file = certificateFile(config)
  const fix = tlsCert
    ? `renew the files of TLS_CERT and TLS_KEY, and ${REPLACE}`
    : `set TLS_CERT and TLS_KEY to a certificate for ${heloName}, and restart the service: SIGHUP does not change settings`
  const [stored, served] = await Promise.all([
    readStored(config),
    servedCertificate(local(relayHost), relayTlsPort, heloName),
  ])
  if (stored instanceof ConfigError) return bad(`the relay cannot start again: ${stored.message}`, fix)
  const certificate = stored ?? served?.certificate
  if (certificate === undefined)
    throw new NotChecked('the relay does not respond, and there is no certificate on this host')
  const inTime = checkDates(certificate, fix)
  if (inTime.status === 'bad') return inTime
  if (served && stored && served.certificate.fingerprint256 !== stored.fingerprint256) {
    const text = `the relay still uses another certificate than ${file}`
    const { status, detail } = checkDates(served.certificate, '')
    return status === 'bad' ? bad(`${text}: ${detail}`, REPLACE) : warn(text, REPLACE)
  }
  if (inTime.status !== 'ok') return inTime
  return checkTrust(certificate, { config, served, fix, inTime })
}

interface TrustOptions extends Pick<Readings, 'config'> {
  readonly served: Served | undefined
  readonly fix: string
  readonly inTime: CheckResult
}

function checkTrust(certificate: X509Certificate, { config, served, fix, inTime }: TrustOptions): CheckResult {
  const { heloName, delivery } = config
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

/**
 * The certificate in the file, if this user can read it and its key. An error if the relay could not use them: one is not valid, or they do not belong
 * together.
 */
async function readStored(config: Config): Promise<X509Certificate | ConfigError | undefined> {
  const { tlsCert, tlsKey } = config
  const file = certificateFile(config)
  if (!tlsCert || !tlsKey) return existsSync(file) ? new X509Certificate(readFileSync(file)) : undefined
  if ([tlsCert, tlsKey].some((one) => existsSync(one) && !isReadable(one))) return undefined
  try {
    return new X509Certificate((await ensureCertificate(config)).cert)
  } catch (error) {
    if (error instanceof ConfigError) return error
    throw error
  }
}

function isReadable(file: string): boolean {
  try {
    accessSync(file, constants.R_OK)
    return true
  } catch {
    return false
  }
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
  const [from, to] = [Date.parse(validFrom), Date.parse(validTo)]
  if (Number.isNaN(from) || Number.isNaN(to)) return bad('its times are not valid, so clients refuse it', fix)
  if (from > Date.now()) return bad(`not valid before ${new Date(from).toISOString()}`, fix)
  const left = to - Date.now()
  if (left < 0) return bad(`it expired on ${new Date(to).toISOString()}`, fix)
  const text = `valid for ${left < 2 * DAY_MS ? spanText(left / 1000) : `${Math.floor(left / DAY_MS)} days`}`
  const isBelow = (level: keyof typeof DAYS) => left < Math.min(DAYS[level] * DAY_MS, PART[level] * (to - from))
  if (isBelow('bad')) return bad(text, fix)
  return isBelow('warn') ? warn(text, fix) : ok(text)
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
