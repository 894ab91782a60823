import { allows, type DomainWithRecords, type ListedDelivery } from '@postrider/core'
import type { AccountCall } from '../../frame/call.ts'
import { type Trial, trialOf } from '../../frame/trial.ts'

/** How far an account has come. */
export interface Progress {
  /** The beginning of the latest valid key that may send. */
  readonly keyPrefix: string | undefined
  readonly latest: ListedDelivery | undefined
  readonly delivered: ListedDelivery | undefined
  /** A domain of the account that the demo account was not made with; an active one, if there is one. */
  readonly domain: DomainWithRecords | undefined
  /** An address that mail can be sent from. */
  readonly sender: string | undefined
  readonly trial: Trial | undefined
  readonly hasWebhook: boolean
  /** The event feed was read by a program. */
  readonly isFeedRead: boolean
}

/** The domain of the demo account, which the visitor does not own. */
const DEMO = 'demo.example'

export async function progressOf(call: AccountCall): Promise<Progress> {
  const { core } = call
  const accountId = call.account.id
  const list = (states?: readonly ['delivered']) =>
    core.messages.list({ accountId, search: states ? { states } : {}, limit: 1 })
  const [keys, all, delivered, active, added, webhooks, isFeedRead, trial] = await Promise.all([
    core.auth.listKeys(accountId, { limit: 200, newestFirst: true, onlyValid: true }),
    list(),
    list(['delivered']),
    core.domains.page(accountId, { status: '1', limit: 10, offset: 0 }),
    core.domains.page(accountId, { limit: 10, offset: 0 }),
    core.webhooks.list(accountId),
    core.events.isFeedRead(accountId),
    trialOf(call),
  ])
  const isOwn = ({ name }: DomainWithRecords) => name !== DEMO
  const own = active.domains.find(isOwn)
  const sender = (own ?? active.domains[0])?.name
  return {
    keyPrefix: keys.find(({ scopes }) => allows(scopes, 'send'))?.prefix,
    latest: all.deliveries[0],
    delivered: delivered.deliveries[0],
    domain: own ?? added.domains.find(isOwn),
    sender: sender === undefined ? trial?.from : `hello@${sender}`,
    trial,
    hasWebhook: webhooks.length > 0,
    isFeedRead,
  }
}
