import { OPERATIONS } from '@postrider/api'
import { account } from './account.ts'
import { attachments } from './attachments.ts'
import { audit } from './audit.ts'
import { credits } from './credits.ts'
import { domains } from './domains.ts'
import type { Input, Wall, WallEntry } from './entry.ts'
import { events } from './events.ts'
import { exports } from './exports.ts'
import { keys } from './keys.ts'
import { messages } from './messages.ts'
import { privacy } from './privacy.ts'
import { sendEmail } from './send-email.ts'
import { stats } from './stats.ts'
import { subaccounts } from './subaccounts.ts'
import { suppressions } from './suppressions.ts'
import { templates } from './templates.ts'
import { webhooks } from './webhooks.ts'

type Operation = (typeof OPERATIONS)[number]

/** The entries that say more than can be derived, and those from which others are derived. */
export const ENTRIES: Wall = {
  ...sendEmail,
  ...domains,
  ...suppressions,
  ...templates,
  ...attachments,
  ...subaccounts,
  ...credits,
  ...keys,
  ...privacy,
  ...events,
  ...messages,
  ...stats,
  ...exports,
  ...webhooks,
  ...account,
  ...audit,
}

const READS = /^(list|view|show|get|check|count|export|read)/

/**
 * Returns the entry of an operation. Without one of its own it is derived: an operation that must name a thing is tried with the thing that
 * another entry makes, one that reads with the mark of its group's list, and another one by whether that list stays the same.
 */
export function wallEntryOf(operation: Operation): WallEntry | undefined {
  const { name, group, input, routes, example } = operation
  const own = ENTRIES[name]
  if (own) return own
  const required: readonly string[] = [
    ...((input.required as string[] | undefined) ?? []),
    ...routes.flatMap(([path]) => [...path.matchAll(/:(\w+)/g)].map(([, parameter]) => parameter as string)),
  ]
  const given = example.input as Input
  const things = entriesOf('object').filter(({ entry }) =>
    Object.keys(entry.missing).every((key) => required.includes(key)),
  )
  const thing = things.find((one) => one.group === group) ?? things[0]
  if (thing) {
    const { make } = thing.entry
    return { ...thing.entry, make: async (setting, owner) => ({ ...given, ...(await make(setting, owner)) }) }
  }
  const list = entriesOf('list').find((one) => one.group === group)
  if (!list) return undefined
  const { make, input: asked = {} } = list.entry
  if (READS.test(name)) return { kind: 'list', make, input: { ...given, ...asked } }
  return { kind: 'own', make, input: given, seen: [list.name, asked] }
}

/** The entries of one kind, those of operations that read first: what they make has no more than the names of a thing. */
function entriesOf<Kind extends WallEntry['kind']>(kind: Kind) {
  return OPERATIONS.flatMap(({ name, group }) => {
    const entry = ENTRIES[name]
    return entry?.kind === kind ? [{ name, group, entry: entry as Extract<WallEntry, { kind: Kind }> }] : []
  }).sort((a, b) => Number(READS.test(b.name)) - Number(READS.test(a.name)))
}
