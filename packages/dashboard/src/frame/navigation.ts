import type { Config } from '@postrider/core'
import type { IconName } from '@postrider/ui'
import type { Right } from './right.ts'

interface Entry {
  /** Name of the text in frame-words.ts. */
  readonly name:
    | 'firstSteps'
    | 'overview'
    | 'messages'
    | 'templates'
    | 'domains'
    | 'suppressions'
    | 'statistics'
    | 'exports'
    | 'keys'
    | 'webhooks'
    | 'inbox'
    | 'subaccounts'
    | 'credits'
    | 'team'
    | 'settings'
    | 'audit'
    | 'accounts'
    | 'queue'
    | 'sources'
    | 'returns'
    | 'processes'
  readonly icon: IconName
  /** Path below the account's, or below /app/operator. */
  readonly path: string
  readonly right: Right | null
  /** The key pressed after g. */
  readonly key?: string
  /** The pages whose subject it is link to it. It is in the palette, and not in the sidebar, which has at most 15 entries for one reader. */
  readonly isLinked?: boolean
}

interface Section {
  readonly title?: 'developers' | 'account'
  readonly entries: readonly Entry[]
}

/** The pages of an account in the sidebar. An entry is shown to roles that have its right. */
export const ACCOUNT_SECTIONS: readonly Section[] = [
  {
    entries: [
      { name: 'firstSteps', icon: 'steps', path: 'first-steps', right: 'events', key: 'f' },
      { name: 'overview', icon: 'overview', path: '', right: null, key: 'o' },
      { name: 'messages', icon: 'mail', path: 'messages', right: 'events', key: 'm' },
      { name: 'templates', icon: 'template', path: 'templates', right: 'templates.read', key: 't' },
      { name: 'domains', icon: 'globe', path: 'domains', right: 'domains.see', key: 'd' },
      { name: 'suppressions', icon: 'ban', path: 'suppressions', right: 'suppressions.read', key: 's' },
      { name: 'statistics', icon: 'chart', path: 'statistics', right: 'stats', key: 'n' },
      { name: 'exports', icon: 'download', path: 'exports', right: 'events', key: 'e', isLinked: true },
    ],
  },
  {
    title: 'developers',
    entries: [
      { name: 'keys', icon: 'key', path: 'keys', right: 'keys.read', key: 'k' },
      { name: 'webhooks', icon: 'webhook', path: 'webhooks', right: 'webhooks.read', key: 'w' },
    ],
  },
  {
    title: 'account',
    entries: [
      { name: 'subaccounts', icon: 'tree', path: 'subaccounts', right: 'subaccounts', key: 'b' },
      { name: 'credits', icon: 'coins', path: 'credits', right: 'credits', key: 'x' },
      { name: 'team', icon: 'users', path: 'team', right: 'team', key: 'p' },
      { name: 'settings', icon: 'gear', path: 'settings', right: 'account.read', key: 'c' },
      { name: 'audit', icon: 'book', path: 'audit', right: 'audit', key: 'a' },
    ],
  },
]

interface Act {
  /** Name of the text in frame-words.ts. */
  readonly name: 'makeKey' | 'addDomain' | 'suppress' | 'makeTemplate' | 'addWebhook' | 'invite' | 'makeSubaccount'
  /** Path below the account's. */
  readonly path: string
  readonly right: Right
}

/** Actions that the palette offers on every page. */
export const ACTS: readonly Act[] = [
  { name: 'makeKey', path: 'keys/new', right: 'keys' },
  { name: 'addDomain', path: 'domains/new', right: 'domains' },
  { name: 'suppress', path: 'suppressions/new', right: 'suppressions' },
  { name: 'makeTemplate', path: 'templates/new', right: 'templates' },
  { name: 'addWebhook', path: 'webhooks/new', right: 'webhooks' },
  { name: 'invite', path: 'team', right: 'team' },
  { name: 'makeSubaccount', path: 'subaccounts/new', right: 'subaccounts' },
]

/** The pages of the installation. */
export const OPERATOR_ENTRIES: readonly Entry[] = [
  { name: 'accounts', icon: 'users', path: 'accounts', right: null },
  { name: 'queue', icon: 'queue', path: 'queue', right: null },
  { name: 'sources', icon: 'send', path: 'sources', right: null },
  { name: 'returns', icon: 'inbox', path: 'returns', right: null },
  { name: 'processes', icon: 'server', path: 'processes', right: null },
]

/** The sandbox inbox is another program, with its own port. Undefined if mail really leaves. */
export function inboxUrl({ delivery, sandboxHost, sandboxHttpPort }: Config): string | undefined {
  if (delivery.kind !== 'sandbox') return undefined
  const host = sandboxHost === '0.0.0.0' || sandboxHost === '::' ? 'localhost' : sandboxHost
  return `http://${host.includes(':') ? `[${host}]` : host}:${sandboxHttpPort}/`
}
