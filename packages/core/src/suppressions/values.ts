import { parseAddress, parseDomain } from '../mime/address.ts'
import { ServiceError } from '../platform/errors.ts'

/** Addresses and domains of one call. A list that is longer is for the import. */
const LIMIT = 10_000

/** Addresses and domains in the form they are stored and looked up in, each once. */
export interface Values {
  readonly emails: readonly string[]
  readonly domains: readonly string[]
}

/**
 * Reads what a call names. Throws at the first that is malformed: suppressionEmailInvalid, suppressionDomainInvalid; and
 * parameterMissing (email) when it names nothing, tooLarge.
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
  return { emails: [...new Set(emails.map(parseEmail))], domains: [...new Set(domains.map(parseEmailDomain))] }
}

/** Throws suppressionEmailInvalid. */
export function parseEmail(text: string): string {
  // U+FFFD stands where octets were no UTF-8: whoever is meant, it is not this.
  const key = text.includes('\ufffd') ? undefined : parseAddress(text)?.key
  if (key === undefined) throw new ServiceError('suppressionEmailInvalid')
  return key
}

/** Throws suppressionDomainInvalid. */
export function parseEmailDomain(text: string): string {
  const domain = parseDomain(text.trim())
  if (domain === undefined) throw new ServiceError('suppressionDomainInvalid')
  return domain
}
