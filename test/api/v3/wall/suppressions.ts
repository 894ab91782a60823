import type { Caller, Setting, Wall, WallEntry } from './entry.ts'

const REASONS = { Bounces: 'hardbounce', SpamReports: 'abuse', Unsubscribes: 'unsubscribe' } as const
type Listed = keyof typeof REASONS
const email = 'listed@harbor.example'

/** Another address for each list: one suppression holds an address, whatever its reason. */
async function suppress({ service }: Setting, { accountId }: Caller, list: Listed): Promise<string> {
  const value = `${list.toLowerCase()}-${email}`
  await service.core.suppressions.add({ accountId, scope: 'address', value, reason: REASONS[list] })
  return value
}

function wallOf(list: Listed): Wall {
  const seen = [`list${list}`, {}] as const
  const params = { email: `${list.toLowerCase()}-${email}` }
  const make = (setting: Setting, owner: Caller) => suppress(setting, owner, list)
  const entries: Wall = {
    [`list${list}`]: { kind: 'list', make },
    [`view${list}`]: { kind: 'list', make, input: { params } },
  }
  if (list === 'Unsubscribes') return entries
  return {
    ...entries,
    [`delete${list}`]: { kind: 'own', make, input: { body: { delete_all: true } }, seen },
    [`delete${list}Of`]: { kind: 'own', make, input: { params }, seen },
  }
}

/** These have nothing anybody could see. */
const EMPTY: WallEntry = { kind: 'none' }

export const suppressions: Wall = {
  ...wallOf('Bounces'),
  ...wallOf('SpamReports'),
  ...wallOf('Unsubscribes'),
  ...Object.fromEntries(
    ['Blocks', 'InvalidEmails'].flatMap((list) =>
      [`list${list}`, `view${list}`, `delete${list}`, `delete${list}Of`].map((name) => [name, EMPTY]),
    ),
  ),
}
