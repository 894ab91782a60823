import type { Account } from '../../accounts/account.ts'
import type { Principal } from '../../accounts/keys/api-key.ts'
import { lookUpSigningKeys } from '../../domains/keys/signing-keys.ts'
import type { MessageReader } from '../../mime/reader.ts'
import { asksDns, type Config } from '../../platform/config/config.ts'
import { notificationsFor, type StatusNotifications } from '../../submission/status-notifications.ts'
import { foreignFields, type Named, type NamedField, namesOwn } from './foreign-fields.ts'
import { type ArrivedSender, fallbackFor, type SenderLookups, senderInstead } from './sender-rules.ts'

/** In whose name a message may be. */
export interface SenderOperations {
  /** See sender-rules.ts. */
  senderInstead(message: ArrivedSender): Promise<string | undefined> | undefined
  fallbackFor(account: Account, domain: string): Promise<string | undefined>
  /** See foreign-fields.ts. */
  foreignFields<Field extends NamedField>(named: Named<Field>): Promise<readonly Field[]>
  namesOwn(text: string, principal: Principal): Promise<boolean>
  /** Whether each DKIM signature of a message verifies, in their order; those beyond the first five do not. Throws overloaded. */
  verifySignatures(message: SignedMessage): Promise<readonly boolean[]>
  /** See submission/status-notifications.ts. */
  notificationsFor(principal: Principal, asked: StatusNotifications): Promise<StatusNotifications | undefined>
}

export interface SignedMessage {
  readonly pieces: readonly Buffer[]
  /** The values of its DKIM-Signature fields. */
  readonly signatures: readonly string[]
  readonly accountId: number
}

export interface OwnIdentity {
  /** The names of this service's hosts, in lower case. */
  readonly hosts: ReadonlySet<string>
  /** Undefined if no DNS may be asked; then no signature verifies. */
  readonly dnsServers: readonly string[] | undefined
}

export function ownIdentity(
  config: Pick<Config, 'heloName' | 'returnPathHost' | 'publicUrl' | 'delivery' | 'dnsServers'>,
): OwnIdentity {
  const hosts = [config.heloName, config.returnPathHost, new URL(config.publicUrl).hostname]
  return {
    hosts: new Set(hosts.map((host) => host.toLowerCase())),
    dnsServers: asksDns(config) ? config.dnsServers : undefined,
  }
}

/** Milliseconds for the keys of all signatures of a message: its client waits for the reply. */
const DNS_DEADLINE_MS = 2000

export function senderOperations(
  lookups: SenderLookups,
  { hosts, dnsServers, verify }: OwnIdentity & { readonly verify: MessageReader['signatures'] },
): SenderOperations {
  return {
    senderInstead: (message) => senderInstead(message, lookups),
    fallbackFor: (account, domain) => fallbackFor(account, domain, lookups),
    foreignFields: (named) => foreignFields(named, lookups, hosts),
    namesOwn: (text, principal) => namesOwn(text, { principal, nullSender: false }, lookups),
    async verifySignatures({ pieces, signatures, accountId }) {
      const none = signatures.map(() => false)
      if (!dnsServers) return none
      const { keys } = await lookUpSigningKeys({ signatures, servers: dnsServers, deadlineMs: DNS_DEADLINE_MS })
      if ([...keys.values()].every(({ length }) => length === 0)) return none
      const verified = await verify(pieces, accountId, keys)
      return signatures.map((_, at) => verified[at] !== undefined)
    },
    notificationsFor: (principal, asked) => notificationsFor(principal, asked, lookups),
  }
}
