import { parseAddress, parseDomain } from '../mime/address.ts'
import { ServiceError } from '../platform/errors.ts'

/** Maximum addresses and domains per call. Longer lists must be imported. */
const LIMIT = 10_000

/** Distinct addresses and domains in their canonical form for storage and lookup. */
export interface Values {
  readonly emails: readonly string[]
  readonly domains: readonly string[]
}

/**
 * Parses the addresses and domains of a call; `*@x.example` is the domain. Throws for the first invalid one: suppressionEmailInvalid,
 * suppressionDomainInvalid; also parameterMissing (email) if there are none, tooLarge.
 */
export function parseValues({ emails = [], domains = [] }: Partial<Values>): Values {
  if (emails.length + domains.length === 0) {
    throw new ServiceError('parameterMissing', { values: { parameter: 'email' } })
  }
  if (emails.length + domains.length > LIMIT) {
    throw new ServiceError('tooLarge', {
      values: { limit: `${LIMIT} addresses and domains. Import longer lists as CSV` },
    })
  }
  const keys = emails.map((text, at) => {
    const domain = domainOfAll(text)
    return domain === undefined ? parseEmail(text, at) : parseEmailDomain(domain, at)
  })
  return {
    emails: [...new Set(keys.filter(isEmail))],
    domains: [
      ...new Set([...keys.filter((key) => !isEmail(key)), ...domains.map((text, at) => parseEmailDomain(text, at))]),
    ],
  }
}

const isEmail = (key: string): boolean => key.includes('@')

/** Returns what follows `*@`, which other services write for all addresses at a domain; undefined for other text. */
export function domainOfAll(email: string): string | undefined {
  const text = email.trim()
  return text.startsWith('*@') ? text.slice(2) : undefined
}

/** `at`: its place in a list, from 0. Throws suppressionEmailInvalid. */
export function parseEmail(text: string, at?: number): string {
  // U+FFFD replaces invalid UTF-8, so the address is not the intended one.
  const key = text.includes('\ufffd') ? undefined : parseAddress(text)?.key
  if (key === undefined) throw new ServiceError('suppressionEmailInvalid', aboutEntry(text, at))
  return key
}

/** `at`: its place in a list, from 0. Throws suppressionDomainInvalid. */
export function parseEmailDomain(text: string, at?: number): string {
  const domain = parseDomain(text.trim())
  if (domain === undefined) throw new ServiceError('suppressionDomainInvalid', aboutEntry(text, at))
  return domain
}

/** Characters of an entry in an error. */
const MAX_SHOWN = 100

function aboutEntry(text: string, at: number | undefined): { readonly about?: string } {
  return at === undefined ? {} : { about: `entry ${at + 1}, ${JSON.stringify(text.slice(0, MAX_SHOWN))}` }
}
