import { happen } from '../../../core/reporting/statistics/happen.ts'
import { acceptMessage, envelopeTo } from '../../../core/submission.ts'
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

/** Bounces of a recipient domain that is nobody else's; `word`: what tells them apart in the answer. */
const bounces = (word: string): WallEntry => ({
  kind: 'list',
  async make({ service }, owner) {
    const { messageId } = await acceptMessage(
      service,
      { ...owner, accountName: '' },
      { envelopes: [envelopeTo('lena@walled-bounces.example')] },
    )
    await service.sql`
      insert into finished_deliveries (message_id, recipient_no, account_id, state, recipient, recipient_key, recipient_domain, kind,
                                       attempt, finished_at)
      select message_id, recipient_no, account_id, 'bounced', recipient, recipient_key, recipient_domain, kind, 1, service_now()
        from delivery_queue where message_id = ${messageId}::uuid`
    await happen(service, owner.accountId, { type: 'bounced', messageId, detail: { class: 'bad-mailbox' } })
    return word
  },
  input: { params: { classification: 'Invalid Address' } },
})

const singular = {
  viewSpamReport: wallOf('SpamReports').viewSpamReports as WallEntry,
  deleteSpamReport: wallOf('SpamReports').deleteSpamReportsOf as WallEntry,
}

export const suppressions: Wall = {
  ...Object.fromEntries(
    ['', 'Plural'].flatMap((suffix) => [
      [`countBounceClassifications${suffix}`, bounces('Invalid Address')],
      [`countBouncesOf${suffix}`, bounces('walled-bounces.example')],
    ]),
  ),
  ...wallOf('Bounces'),
  ...wallOf('SpamReports'),
  ...singular,
  ...wallOf('Unsubscribes'),
  ...Object.fromEntries(
    ['Blocks', 'InvalidEmails'].flatMap((list) =>
      [`list${list}`, `view${list}`, `delete${list}`, `delete${list}Of`].map((name) => [name, EMPTY]),
    ),
  ),
}
