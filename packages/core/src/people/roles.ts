import type { Scope } from '../accounts/keys/index.ts'

/** The roles of an account's members, from the most rights to the fewest. */
export const ROLES = ['owner', 'developer', 'support', 'viewer'] as const
export type MemberRole = (typeof ROLES)[number]
/** `observer`: an operator who looks at the account of others (people.lookAs). */
export type Role = MemberRole | 'observer'

/** Rights of people in addition to the scopes of keys. */
export const PEOPLE_RIGHTS = [
  // Send an accepted message to its recipient again.
  'resend',
  // See the sending domains and their records.
  'domains.see',
  // Ask for a file of the account's events.
  'export',
  // Invite, change and remove members.
  'team',
] as const
export type PeopleRight = (typeof PEOPLE_RIGHTS)[number]

export interface Rights {
  /** As those of a key: `requireScope` and `allows` read them. */
  readonly scopes: readonly Scope[]
  readonly people: readonly PeopleRight[]
}

const READING: readonly Scope[] = ['send.read', 'templates.read', 'suppressions.read', 'webhooks.read', 'account.read']

/** The rights of each role. Pages and tests read this table, and nothing else decides. */
const RIGHTS: Readonly<Record<Role, Rights>> = {
  owner: { scopes: ['all'], people: PEOPLE_RIGHTS },
  // Neither members nor credit nor erasure.
  developer: {
    scopes: [
      'send',
      'domains',
      'templates',
      'attachments',
      'suppressions',
      'keys',
      'audit',
      'events',
      'stats',
      'webhooks',
      'account',
      'content',
    ],
    people: ['resend', 'domains.see', 'export'],
  },
  // Sees what became of mail, never what it says.
  support: { scopes: ['send.read', 'suppressions', 'events', 'stats'], people: ['resend', 'export'] },
  viewer: { scopes: ['stats'], people: [] },
  observer: { scopes: [...READING, 'keys.read', 'events', 'stats', 'audit'], people: ['domains.see'] },
}

/** The rights of a role: one table for pages, tests and the API. */
export function rightsOf(role: Role): Rights {
  return RIGHTS[role]
}
