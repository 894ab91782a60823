import {
  type Core,
  isDatabaseTrouble,
  isTlsDemand,
  type Log,
  type Providers,
  partsOfPlace,
  strongestNeed,
  type TlsDemand,
  type TlsLevel,
  type TlsNeed,
  type TlsOrigin,
  UNDEMANDING,
} from '@postrider/core'
import { createRefresher } from '../common/refresher.ts'

/** Milliseconds between two reads of the rules; a notification causes one at once. */
const READ_EVERY_MS = 60_000
/** Milliseconds between two attempts to read them before the first delivery. */
const RETRY_MS = 500

export interface TlsPolicyOptions {
  readonly core: Core
  readonly log: Log
  readonly providers: Providers
}

/** The origins of a delivery's TLS level. */
export interface TlsQuestion {
  readonly accountId: number
  readonly recipientDomain: string
  /** The demand of the message. */
  readonly asked: string | undefined
  /** Where it is to be offered. */
  readonly destination: string
  /** The demand of the recipient's domain, by its MTA-STS policy. */
  readonly published: 'sts' | undefined
}

/** The only place where it is decided what a delivery demands of its connection. */
export class TlsPolicy {
  readonly #options: TlsPolicyOptions
  #rules = new Map<string, TlsDemand>()
  #isRead = false
  readonly #timer: NodeJS.Timeout
  #listening: { close(): Promise<void> } | undefined

  constructor(options: TlsPolicyOptions) {
    this.#options = options
    this.#timer = setInterval(() => void this.#read(), READ_EVERY_MS)
  }

  /** Resolves when the rules are known: without them nothing may be delivered. */
  async start(): Promise<void> {
    this.#listening = await this.#options.core.tls.listen(() => void this.#read())
    for (await this.#read(); !this.#isRead; await this.#read()) await new Promise((done) => setTimeout(done, RETRY_MS))
  }

  /** Returns the strongest level that message, account, rule, provider and recipient's domain demand, and which of them does. */
  needOf({ accountId, recipientDomain: domain, asked = '', destination, published }: TlsQuestion): TlsNeed {
    if (asked === UNDEMANDING) return { level: 'opportunistic' }
    const provider = this.#options.providers.named(partsOfPlace(destination).base)
    return strongestNeed([
      ['message', isTlsDemand(asked) ? asked : undefined],
      ...(this.#rules.size === 0 ? [] : this.#ofRules(accountId, domain)),
      ['provider', provider?.tlsRequired ? 'required' : undefined],
      ['mta-sts', published],
    ])
  }

  #ofRules(accountId: number, domain: string): [TlsOrigin, TlsLevel | undefined][] {
    return [
      ['account-domain', this.#rules.get(keyOf(accountId, domain))],
      ['account', this.#rules.get(keyOf(accountId, null))],
      ['domain', this.#rules.get(keyOf(null, domain))],
      ['operator', this.#rules.get(keyOf(null, null))],
    ]
  }

  readonly #read = createRefresher(async () => {
    const { core, log } = this.#options
    try {
      const rules = await core.tls.rules()
      this.#rules = new Map(rules.map(({ accountId, domain, level }) => [keyOf(accountId, domain), level]))
      this.#isRead = true
    } catch (err) {
      if (!isDatabaseTrouble(err)) log.error({ err }, 'could not read the TLS rules')
    }
  })

  async close(): Promise<void> {
    clearInterval(this.#timer)
    await this.#listening?.close().catch(() => {})
  }
}

function keyOf(accountId: number | null, domain: string | null): string {
  return `${accountId ?? ''} ${domain ?? ''}`
}

/** Separates the hosts of a site from the level. A host name has no such character. */
const AT_LEVEL = ' tls:'

/**
 * Names the sessions with the hosts of a site at one level: mail of different levels shares none. Nor does mail for which the DNS says
 * different things of the certificates; `dane` identifies them.
 */
export function sessionsOf(site: string, level: TlsLevel, dane?: string): string {
  if (dane !== undefined) return `${site}${AT_LEVEL}${level} dane:${dane}`
  return level === 'opportunistic' ? site : `${site}${AT_LEVEL}${level}`
}

/** The site of {@link sessionsOf}. */
export function siteOfSessions(sessions: string): string {
  const at = sessions.indexOf(AT_LEVEL)
  return at === -1 ? sessions : sessions.slice(0, at)
}
