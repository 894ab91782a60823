import type { ReceivesMail } from '../domains/receives-mail.ts'
import { parseAddress } from '../mime/address.ts'

/** Facts about an address. No server is asked whether the mailbox exists. */
export interface AddressFacts {
  readonly email: string
  /** Whether its domain takes mail; undefined for an address that is not valid. */
  readonly receives: ReceivesMail | undefined
  /** The reasons of the entries that would suppress mail to it. */
  readonly suppressedFor: readonly string[]
}

export interface AddressJudgement {
  readonly verdict: 'Valid' | 'Risky' | 'Invalid'
  /** The address that may have been meant. */
  readonly suggestion: string | undefined
  readonly isRole: boolean
  readonly hasBounced: boolean
}

export function judgeAddress({ email, receives, suppressedFor }: AddressFacts): AddressJudgement {
  const address = parseAddress(email)
  const local = email.slice(0, Math.max(0, email.lastIndexOf('@')))
  const host = address && suggestedHost(address.domain)
  const hasBounced = suppressedFor.includes('hardbounce')
  const isRole = ROLES.has(local.toLowerCase())
  const isInvalid = !address || receives === 'no' || hasBounced
  const isRisky = host !== undefined || isRole || receives !== 'yes' || suppressedFor.length > 0
  return {
    verdict: isInvalid ? 'Invalid' : isRisky ? 'Risky' : 'Valid',
    suggestion: host === undefined ? undefined : `${local}@${host}`,
    isRole,
    hasBounced,
  }
}

/** RFC 2142, and what else is read by several people or by none. */
const ROLES: ReadonlySet<string> = new Set(
  (
    'abuse admin administrator billing contact ftp help hostmaster hr info jobs mail marketing news no-reply noc noreply office postmaster root ' +
    'sales security support sysadmin team usenet uucp webmaster www'
  ).split(' '),
)

/** Large providers whose names are long enough that a name with one other letter is hardly anybody else's. */
const LARGE = [
  'gmail.com',
  'googlemail.com',
  'hotmail.com',
  'icloud.com',
  'outlook.com',
  'yahoo.com',
  'comcast.net',
  't-online.de',
]
/** Providers whose names are like those. */
const OTHERS = new Set(['email.com', 'fmail.com', 'gmail.co', 'mail.com', 'ymail.com'])
/** Endings that do not exist. */
const WRONG_ENDING = /\.(?:con|cpm|comm|cim|vom|xom|ocm|cmo)$/

/** Returns the domain that was probably meant; undefined if this one is. */
function suggestedHost(domain: string): string | undefined {
  if (OTHERS.has(domain) || LARGE.includes(domain)) return undefined
  const ended = domain.replace(WRONG_ENDING, '.com')
  if (LARGE.includes(ended)) return ended
  return LARGE.find((one) => isOneEdit(domain, one)) ?? (ended === domain ? undefined : ended)
}

/** Whether one letter is missing, added or another, or two neighbours are exchanged. */
function isOneEdit(one: string, other: string): boolean {
  const [short, long] = one.length <= other.length ? [one, other] : [other, one]
  if (long.length - short.length > 1) return false
  let at = 0
  while (at < short.length && short[at] === long[at]) at++
  if (short.length < long.length) return short.slice(at) === long.slice(at + 1)
  const isOther = short.slice(at + 1) === long.slice(at + 1)
  const isExchanged =
    short[at] === long[at + 1] && short[at + 1] === long[at] && short.slice(at + 2) === long.slice(at + 2)
  return at < short.length && (isOther || isExchanged)
}
