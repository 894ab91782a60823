import { V3_OPERATIONS } from '@postrider/api'
import { asSchema } from '../../../../packages/api/src/docs/fields.ts'
import { sampleOf } from '../../../../packages/api/src/docs/samples.ts'
import { accountPaths } from './account-paths.ts'
import { accountSettings } from './account-settings.ts'
import { domains } from './domains.ts'
import type { Input, Wall, WallEntry } from './entry.ts'
import { keys } from './keys.ts'
import { mailSend } from './mail-send.ts'
import { scheduledSends } from './scheduled-sends.ts'
import { scopes } from './scopes.ts'
import { stats } from './stats.ts'
import { subusers } from './subusers.ts'
import { suppressionGroups } from './suppression-groups.ts'
import { suppressions } from './suppressions.ts'
import { templates } from './templates.ts'
import { webhooks } from './webhooks.ts'

type Operation = (typeof V3_OPERATIONS)[number]

/** The entries that say more than can be derived, and those from which others are derived. */
export const ENTRIES: Wall = {
  ...accountPaths,
  ...accountSettings,
  ...domains,
  ...keys,
  ...mailSend,
  ...scheduledSends,
  ...scopes,
  ...stats,
  ...subusers,
  ...suppressionGroups,
  ...suppressions,
  ...templates,
  ...webhooks,
}

/** Returns what the documentation shows of the operation's query and body. */
export function sampleInput({ query, body }: Operation): Input {
  const { required = [] } = (query ?? {}) as { readonly required?: readonly string[] }
  return {
    ...(query ? { query: sampleOf({ ...asSchema(query), required }, '', 3) as Input['query'] } : {}),
    ...(body ? { body: sampleOf(asSchema(body)) } : {}),
  } as Input
}

/**
 * Returns the entry of an operation. Without one of its own it is derived: an operation whose path names a thing is tried with the thing
 * that another entry makes, one that reads with the mark of a list of its scope, and another one by whether that list stays the same.
 */
export function wallEntryOf(operation: Operation): WallEntry | undefined {
  const { name, path, method, scope } = operation
  const own = ENTRIES[name]
  if (own) return own
  const names = [...path.matchAll(/:(\w+)/g)].map(([, parameter]) => parameter as string)
  const given = sampleInput(operation)
  if (names.length > 0) {
    const things = entriesOf('object').filter(({ entry }) => names.every((key) => key in (entry.missing.params ?? {})))
    const thing = things.find((one) => one.path === path) ?? things.find((one) => one.scope === scope)
    if (!thing) return undefined
    const { make } = thing.entry
    return { ...thing.entry, make: async (setting, owner) => ({ ...given, ...(await make(setting, owner)) }) }
  }
  const list = entriesOf('list').find((one) => one.scope === scope)
  if (!list) return undefined
  const { make, input = {} } = list.entry
  if (method === 'GET') return { kind: 'list', make, input: { ...given, ...input } }
  return { kind: 'own', make, input: given, seen: [list.name, input] }
}

/** The entries of one kind, those of operations that read first: what they make has no more than the names of a thing. */
function entriesOf<Kind extends WallEntry['kind']>(kind: Kind) {
  return V3_OPERATIONS.flatMap(({ name, path, method, scope }) => {
    const entry = ENTRIES[name]
    return entry?.kind === kind
      ? [{ name, path, method, scope, entry: entry as Extract<WallEntry, { kind: Kind }> }]
      : []
  }).sort((a, b) => Number(b.method === 'GET') - Number(a.method === 'GET'))
}
