import { readFileSync } from 'node:fs'
import type { Socket } from 'node:net'
import { type ConnectionOptions, checkServerIdentity, type PeerCertificate } from 'node:tls'

/** A URL of a database as the driver takes it, with the TLS that its parameters demand. */
export interface DatabaseAddress {
  readonly url: string
  /** If undefined, the driver's default applies. */
  readonly ssl?: string | false | ConnectionOptions
}

/** Parameters of libpq that the server does not know, and that change nothing here. */
const WITHOUT_EFFECT = ['channel_binding', 'gssencmode', 'sslcompression', 'sslsni', 'sslminprotocolversion']
const TLS_PARAMETERS = ['ssl', 'sslmode', 'sslrootcert', 'sslcert', 'sslkey', 'sslpassword']

/**
 * Reads the parameters of TLS as libpq means them. The driver's own verify-full compares the certificate of a host that is an address with the name
 * `localhost`, and its verify-ca compares names, too.
 *
 * Throws an Error that names the parameter.
 */
export function databaseAddress(text: string): DatabaseAddress {
  const [base = '', query] = text.split('?', 2)
  if (query === undefined) return { url: text }
  const parameters = new URLSearchParams(query)
  if (parameters.get('channel_binding') === 'require')
    throw new Error('has channel_binding=require, which is not supported: remove it')
  const ssl = sslOf(parameters, base)
  for (const name of [...WITHOUT_EFFECT, ...TLS_PARAMETERS]) parameters.delete(name)
  const rest = parameters.toString()
  return { url: rest === '' ? base : `${base}?${rest}`, ...(ssl === undefined ? {} : { ssl }) }
}

function sslOf(parameters: URLSearchParams, base: string): DatabaseAddress['ssl'] {
  const root = parameters.get('sslrootcert')
  const mode = parameters.get('sslmode') ?? parameters.get('ssl') ?? (root === 'system' ? 'verify-full' : undefined)
  const own = ownCertificate(parameters)
  switch (mode) {
    case undefined:
      if (root !== null) throw new Error('has sslrootcert without sslmode: add sslmode=verify-full')
      return undefined
    case 'disable':
    case 'false':
      return false
    case 'allow':
    case 'prefer':
      return mode
    case 'require':
    case 'true':
      // With an authority, libpq checks it.
      if (root !== null) return { ...own, ...authorities(root), checkServerIdentity: () => undefined }
      return own === undefined ? 'require' : { ...own, rejectUnauthorized: false }
    case 'verify-ca':
      return { ...own, ...authorities(root), checkServerIdentity: () => undefined }
    case 'verify-full':
      return { ...own, ...authorities(root), checkServerIdentity: identityAmong(hostsOf(base)) }
    default:
      throw new Error(`has sslmode=${mode}: use disable, prefer, require, verify-ca or verify-full`)
  }
}

/** Undefined and `system`: those of Node, and of NODE_EXTRA_CA_CERTS. */
function authorities(file: string | null): Pick<ConnectionOptions, 'ca'> {
  return file === null || file === 'system' ? {} : { ca: readParameter('sslrootcert', file) }
}

function ownCertificate(
  parameters: URLSearchParams,
): Pick<ConnectionOptions, 'cert' | 'key' | 'passphrase'> | undefined {
  const [cert, key, passphrase] = ['sslcert', 'sslkey', 'sslpassword'].map((name) => parameters.get(name))
  if (!cert && !key) return undefined
  if (!cert || !key) throw new Error('must have both sslcert and sslkey, or none of them')
  return {
    cert: readParameter('sslcert', cert),
    key: readParameter('sslkey', key),
    ...(passphrase ? { passphrase } : {}),
  }
}

function readParameter(name: string, file: string): Buffer {
  try {
    return readFileSync(file)
  } catch (error) {
    throw new Error(`has ${name}=${file}, which cannot be read (${(error as NodeJS.ErrnoException).code})`)
  }
}

function hostsOf(base: string): string[] {
  const authority = base.slice(base.indexOf('://') + 3).split('/', 1)[0] ?? ''
  const hosts = authority.slice(authority.lastIndexOf('@') + 1).split(',')
  return hosts.map((host) => plainHost(host.replace(/:\d+$/, '')))
}

/** An address of version 6 without its brackets. */
function plainHost(host: string): string {
  return host.replace(/^\[(.*)\]$/, '$1')
}

/**
 * Compares the certificate with the host of the connection. The driver gives Node no name for an address, so that Node would compare with
 * `localhost`; but the driver notes the host at the socket.
 */
function identityAmong(hosts: readonly string[]): NonNullable<ConnectionOptions['checkServerIdentity']> {
  return function (this: unknown, name: string, certificate: PeerCertificate): Error | undefined {
    const { socket } = (this ?? {}) as { readonly socket?: Socket & { readonly host?: unknown } }
    const host = typeof socket?.host === 'string' ? plainHost(socket.host) : name
    // Only a host of the URL: an unknown one is refused, not compared with something else.
    if (!hosts.includes(host))
      return new Error('the host of this connection is not known, so its certificate cannot be checked')
    return checkServerIdentity(host, certificate)
  }
}
