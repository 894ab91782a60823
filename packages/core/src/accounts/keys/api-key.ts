import type { Account, MailDefaults } from '../account.ts'
import type { Rate } from '../rate-limits/index.ts'

/** What a key allows, an operation group each; `all` allows everything. */
export const SCOPES = [
  ...([
    'all',
    'send',
    'domains',
    'templates',
    'attachments',
    'suppressions',
    'credits',
    'subaccounts',
    'keys',
  ] as const),
  ...(['privacy', 'audit', 'events', 'stats', 'webhooks', 'account'] as const),
  // Each a part of the scope it begins with: what v3 reads of it.
  ...(['send.read', 'templates.read', 'suppressions.read', 'keys.read', 'webhooks.read', 'account.read'] as const),
] as const
export type Scope = (typeof SCOPES)[number]

/** Whether one of these scopes allows what needs `scope`. */
export function allows(scopes: readonly Scope[], scope: Scope): boolean {
  if (scopes.includes('all') || scopes.includes(scope)) return true
  return scope.endsWith('.read') && scopes.includes(scope.slice(0, -'.read'.length) as Scope)
}

/** What a key may not do though its scopes would allow it. Null: no restriction of that kind. */
export interface Restrictions {
  /** Only mail made of these stored templates. */
  readonly templates: readonly number[] | null
  /** Lower-case A-labels, each for itself and not for what is below it. */
  readonly senderDomains: readonly string[] | null
  readonly recipientDomains: readonly string[] | null
  /** Accepted by any door, copies too. */
  readonly recipientsPerHour: number | null
  /** Calls of any kind, and messages offered by SMTP. */
  readonly callsPerMinute: number | null
  /** From then on the key is refused as a revoked one. */
  readonly until: Date | null
}

export const UNRESTRICTED: Restrictions = {
  ...{ templates: null, senderDomains: null, recipientDomains: null },
  ...{ recipientsPerHour: null, callsPerMinute: null, until: null },
}

export interface ApiKey {
  readonly id: number
  readonly accountId: number
  readonly name: string
  readonly prefix: string
  readonly scopes: readonly Scope[]
  /** Networks the key may be used from; none: from anywhere. */
  readonly networks: readonly string[]
  readonly restrictions: Restrictions
  /** v3's own names of what the key may do there, as they were asked for. Null: all that the scopes allow. */
  readonly v3Rights: readonly string[] | null
  readonly createdAt: Date
  readonly revokedAt: Date | null
  /** To the minute or so. */
  readonly lastUsedAt: Date | null
  /** After a rotation: the key that took over. */
  readonly replacedBy: number | null
  /** The key whose allowances this one draws on; null: it has its own. */
  readonly countsWith: number | null
  /** Past its `until`, by the database's clock. */
  readonly expired: boolean
}

/** Whoever showed a valid key. */
export interface Principal {
  readonly account: Account
  readonly mailDefaults: MailDefaults
  readonly keyId: number
  readonly scopes: readonly Scope[]
  /** Null: none at all. */
  readonly restrictions: Restrictions | null
  /** See ApiKey. Left out: null. */
  readonly v3Rights?: readonly string[] | null
  /** The account's expiry is in the past, by the database's clock. */
  readonly expired: boolean
  readonly rates: Rates
}

/** How often a principal may do what. Null: as often as it likes. */
export interface Rates {
  /** Any call but sendEmail. */
  readonly calls: readonly Rate[] | null
  /** sendEmail, and messages offered by SMTP. */
  readonly sends: readonly Rate[] | null
  readonly recipients: Rate | null
}

/** Whose room it is: subaccounts have theirs with their parent, who may make any number of them. */
export function holderOf({ account }: Pick<Principal, 'account'>): number {
  return account.parentId ?? account.id
}
