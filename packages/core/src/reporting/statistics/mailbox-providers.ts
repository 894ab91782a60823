/**
 * Who keeps a mailbox, told by its domain, by the names that the mirrored v3 interface has for them. Domains of companies whose mail one
 * of them keeps are not known: that would take a look at their MX records. Data: a new domain is one word here.
 */
const DOMAINS = {
  AOL: 'aol.com aim.com aol.co.uk aol.de aol.fr',
  Apple: 'icloud.com me.com mac.com',
  Comcast: 'comcast.net',
  GMX: 'gmx.de gmx.net gmx.com gmx.at gmx.ch web.de',
  Gmail: 'gmail.com googlemail.com',
  Hotmail:
    'hotmail.com hotmail.co.uk hotmail.de hotmail.es hotmail.fr hotmail.it live.com live.co.uk live.fr live.nl msn.com outlook.com outlook.de outlook.es outlook.fr',
  Yahoo:
    'yahoo.com yahoo.ca yahoo.co.in yahoo.co.jp yahoo.co.uk yahoo.com.br yahoo.de yahoo.es yahoo.fr yahoo.in yahoo.it rocketmail.com ymail.com',
} as const

export const OTHER_PROVIDERS = 'Other'

/** Recipient domains by provider, in the order of their names. */
export const MAILBOX_PROVIDERS: ReadonlyMap<string, readonly string[]> = new Map(
  Object.entries(DOMAINS).map(([name, domains]) => [name, domains.split(' ')]),
)
