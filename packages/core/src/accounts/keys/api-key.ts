import type { Account, MailDefaults } from '../account.ts'
import type { ClassName } from '../mail-class.ts'
import type { Rate } from '../rate-limits/index.ts'

/** Permissions of a key: each scope covers a group of operations; `all` covers all of them. */
export const SCOPES = [
  'all',
  'send',
  'domains',
  'templates',
  'attachments',
  'suppressions',
  'credits',
  'subaccounts',
  'keys',
  'privacy',
  'audit',
  'events',
  'stats',
  'webhooks',
  'account',
  // Bodies, headers and attachments of messages.
  'content',
  // Read-only parts of the scope before the dot, used by v3.
  'send.read',
  'templates.read',
  'suppressions.read',
  'keys.read',
  'webhooks.read',
  'account.read',
] as const
export type Scope = (typeof SCOPES)[number]

/** Whether one of these scopes permits operations that need `scope`. */
export function allows(scopes: readonly Scope[], scope: Scope): boolean {
  if (scopes.includes('all') || scopes.includes(scope)) return true
  return scope.endsWith('.read') && scopes.includes(scope.slice(0, -'.read'.length) as Scope)
}

/** Restrictions of a key in addition to its scopes; null means not restricted. */
export interface Restrictions {
  /** Only messages that use one of these stored templates. */
  readonly templates: readonly number[] | null
  /** Lower-case A-labels; subdomains are not included. */
  readonly senderDomains: readonly string[] | null
  readonly recipientDomains: readonly string[] | null
  /** Recipients accepted through any entry point, including cc and bcc. */
  readonly recipientsPerHour: number | null
  /** API calls of any kind, and messages submitted by SMTP. */
  readonly callsPerMinute: number | null
  /** The class of all mail sent with the key. */
  readonly class: ClassName | null
  /** False: the content of its mail is not kept after the last outcome. */
  readonly keepContent: false | null
  /** Expiry: from then on the key is rejected like a revoked one. */
  readonly until: Date | null
}

export const UNRESTRICTED: Restrictions = {
  templates: null,
  senderDomains: null,
  recipientDomains: null,
  recipientsPerHour: null,
  callsPerMinute: null,
  class: null,
  keepContent: null,
  until: null,
}

export interface ApiKey {
  readonly id: number
  readonly accountId: number
  readonly name: string
  readonly prefix: string
  readonly scopes: readonly Scope[]
  /** Networks the key may be used from; if empty, any. */
  readonly networks: readonly string[]
  readonly restrictions: Restrictions
  /** Permissions in v3's own names, as requested at creation; null if all that the scopes permit. */
  readonly v3Rights: readonly string[] | null
  readonly createdAt: Date
  readonly revokedAt: Date | null
  /** Accurate to about a minute. */
  readonly lastUsedAt: Date | null
  /** The successor after a rotation, else null. */
  readonly replacedBy: number | null
  /** The key whose quotas this key shares; null if it has its own. */
  readonly countsWith: number | null
  /** Whether the key has expired, by the database's clock. */
  readonly expired: boolean
}

/** The authenticated caller. */
export interface Principal {
  readonly account: Account
  readonly mailDefaults: MailDefaults
  readonly keyId: number
  readonly scopes: readonly Scope[]
  /** Null if unrestricted. */
  readonly restrictions: Restrictions | null
  /** See ApiKey. Omitted: null. */
  readonly v3Rights?: readonly string[] | null
  /** Whether the account has expired, by the database's clock. */
  readonly expired: boolean
  readonly rates: Rates
}

/** Rate limits of a principal; null means unlimited. */
export interface Rates {
  /** All API calls except sendEmail. */
  readonly calls: readonly Rate[] | null
  /** sendEmail, and messages submitted by SMTP. */
  readonly sends: readonly Rate[] | null
  readonly recipients: Rate | null
}

/**
 * The account whose share of memory is used: subaccounts share their parent's, since a parent can create any number of
 * them.
 */
export function holderOf({ account }: Pick<Principal, 'account'>): number {
  return account.parentId ?? account.id
}

/** Keys with an id above `after`, at most `limit` of them. */
export interface KeyPage {
  readonly after: number
  readonly limit: number
  /** Revoked ones after all others. Otherwise the oldest first. */
  readonly newestFirst: boolean
  /** Neither revoked nor expired ones. */
  readonly onlyValid: boolean
}
