import { happen } from '../../../core/reporting/statistics/happen.ts'
import { acceptMessage, envelopeTo } from '../../../core/submission.ts'
import type { Caller, Setting, Wall, WallEntry } from './entry.ts'

const REASONS = { Bounces: 'hardbounce', SpamReports: 'abuse', Unsubscribes: 'unsubscribe' } as const
/** What puts an address on the lists that suppress nothing. */
const FAILURES = { Blocks: ['bounced', 'spam'], InvalidEmails: ['invalid', undefined] } as const
type Listed = keyof typeof REASONS | keyof typeof FAILURES

/** Another address for each list: one suppression holds an address, whatever its reason. */
const addressOf = (list: Listed) => `${list.toLowerCase()}-listed@harbor.example`

async function suppress(setting: Setting, owner: Caller, list: Listed): Promise<string> {
  const { service } = setting
  const value = addressOf(list)
  if (list in FAILURES) {
    const [type, kind] = FAILURES[list as keyof typeof FAILURES]
    await fail(setting, owner, value, { type, kind })
  } else {
    const reason = REASONS[list as keyof typeof REASONS]
    await service.core.suppressions.add({ accountId: owner.accountId, scope: 'address', value, reason })
  }
  return value
}

/** A delivery that has failed. */
async function fail(
  { service }: Setting,
  owner: Caller,
  to: string,
  { type, kind }: { readonly type: string; readonly kind: string | undefined },
): Promise<void> {
  const { messageId } = await acceptMessage(service, { ...owner, accountName: '' }, { envelopes: [envelopeTo(to)] })
  await service.sql`
    insert into finished_deliveries (message_id, recipient_no, account_id, state, recipient, recipient_key, recipient_domain, kind,
                                     attempt, finished_at)
    select message_id, recipient_no, account_id, 'bounced', recipient, recipient_key, recipient_domain, kind, 1, service_now()
      from delivery_queue where message_id = ${messageId}::uuid`
  await happen(service, owner.accountId, { type, messageId, detail: kind === undefined ? {} : { class: kind } })
}

function wallOf(list: Listed): Wall {
  const seen = [`list${list}`, {}] as const
  const params = { email: addressOf(list) }
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

/** Bounces of a recipient domain that is nobody else's; `word`: what tells them apart in the answer. */
const bounces = (word: string): WallEntry => ({
  kind: 'list',
  async make(setting, owner) {
    await fail(setting, owner, 'lena@walled-bounces.example', { type: 'bounced', kind: 'bad-mailbox' })
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
  ...wallOf('Blocks'),
  ...wallOf('InvalidEmails'),
}
