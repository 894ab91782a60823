/**
 * Mailbox providers and their domains, with the names of the mirrored v3 interface. Domains of companies that use a provider are not
 * included, because that would require looking up their MX records. To support a new domain, add it here.
 */
const DOMAINS = {
  AOL: 'aol.com aim.com aol.co.uk aol.de aol.fr',
  Apple: 'icloud.com me.com mac.com',
  Comcast: 'comcast.net',
  GMX: 'gmx.de gmx.net gmx.com gmx.at gmx.ch web.de',
  Gmail: 'gmail.com googlemail.com',
  Hotmail:
    'hotmail.com hotmail.co.uk hotmail.de hotmail.es hotmail.fr hotmail.it live.com live.co.uk live.fr live.nl msn.com outlook.com ' +
    'outlook.de outlook.es outlook.fr',
  Yahoo:
    'yahoo.com yahoo.ca yahoo.co.in yahoo.co.jp yahoo.co.uk yahoo.com.br yahoo.de yahoo.es yahoo.fr yahoo.in yahoo.it rocketmail.com ymail.com',
} as const

export const OTHER_PROVIDERS = 'Other'

/** Recipient domains by provider, ordered by name. */
export const MAILBOX_PROVIDERS: ReadonlyMap<string, readonly string[]> = new Map(
  Object.entries(DOMAINS).map(([name, domains]) => [name, domains.split(' ')]),
)
