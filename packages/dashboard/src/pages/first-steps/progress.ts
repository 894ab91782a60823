import type { ListedDelivery } from '@postrider/core'
import type { AccountCall } from '../../frame/call.ts'
import { type Trial, trialOf } from '../../frame/trial.ts'

/** How far an account has come. */
export interface Progress {
  /** The beginning of the latest valid key. */
  readonly keyPrefix: string | undefined
  readonly latest: ListedDelivery | undefined
  readonly delivered: ListedDelivery | undefined
  /** An active domain of the account that the demo account was not made with. */
  readonly domain: string | undefined
  /** An address that mail can be sent from. */
  readonly sender: string | undefined
  readonly trial: Trial | undefined
  readonly hasWebhook: boolean
}

/** The domain of the demo account, which the visitor does not own. */
const DEMO = 'demo.example'

export async function progressOf(call: AccountCall): Promise<Progress> {
  const { core } = call
  const accountId = call.account.id
  const list = (states?: readonly ['delivered']) =>
    core.messages.list({ accountId, search: states ? { states } : {}, limit: 1 })
  const [keys, all, delivered, domains, webhooks, trial] = await Promise.all([
    core.auth.listKeys(accountId, { limit: 200 }),
    list(),
    list(['delivered']),
    core.domains.page(accountId, { status: '1', limit: 10, offset: 0 }),
    core.webhooks.list(accountId),
    trialOf(call),
  ])
  const names = domains.domains.map(({ name }) => name)
  const domain = names.find((name) => name !== DEMO)
  const sender = domain ?? names[0]
  return {
    keyPrefix: keys.findLast(({ revokedAt, expired }) => revokedAt === null && !expired)?.prefix,
    latest: all.deliveries[0],
    delivered: delivered.deliveries[0],
    domain,
    sender: sender === undefined ? trial?.from : `hello@${sender}`,
    trial,
    hasWebhook: webhooks.length > 0,
  }
}
