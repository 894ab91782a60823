import t from 'tap'
import { countAll, happen } from '../../core/reporting/statistics/happen.ts'
import { acceptMessage } from '../../core/submission.ts'
import { makeService } from '../../helpers/service.ts'
import { call } from '../call.ts'

const service = await makeService(t)
const url = await service.openApi()

/** Names of one event in this service, in v3, in the mirrored log and elsewhere. */
const SAME: readonly (readonly [own: string, ...others: string[]])[] = [
  ['sent', 'delivered', 'Delivery'],
  ['bounced', 'bounce'],
  ['opened', 'open', 'OPEN'],
  ['clicked', 'click'],
  ['unsubscribed', 'unsubscribe', 'unsub'],
  ['spam', 'spamreport', 'complained', 'abuse'],
  ['dropped', 'drop'],
]

t.test(
  'webhooks, the feed, the log and exports have one vocabulary of events, and the names of others mean the same',
  async (t) => {
    const sender = await service.makeSender()
    const { apiKey, accountId } = sender
    const ask = async (method: string, path: string, body?: Record<string, unknown>) => {
      const { json } = await call(url, { method, path, headers: { api_key: apiKey }, ...(body ? { body } : {}) })
      return json as { data: unknown; error_info: { error_message: string } | null }
    }
    const { messageId } = await acceptMessage(service, sender)
    for (const type of ['sent', 'bounced', 'opened', 'clicked', 'unsubscribed', 'complained', 'dropped'])
      await happen(service, accountId, { type, messageId, detail: { class: 'bad-mailbox' } })
    await countAll(service)
    const made = await ask('POST', '/v2/webhooks', { url: 'https://ship.example/', events: 'sent', enabled: 0 })
    const id = (made.data as { webhookId: number }).webhookId
    const day = new Date(Date.now() - 86_400_000).toISOString().slice(0, 10)
    const answers = async (name: string) => ({
      webhook: ((await ask('PATCH', `/v2/webhooks/${id}`, { events: name })).data as { events: string[] }).events,
      feed: ((await ask('GET', `/v2/events/feed?types=${name}`)).data as { type: string }[]).map(({ type }) => type),
      log: ((await ask('GET', `/v2/logs?startdate=${day}&events=${name}`)).data as unknown[]).length,
      exported: (
        await call(url, {
          method: 'GET',
          path: `/v2/stats/export?startdate=${day}&events=${name}`,
          headers: { api_key: apiKey },
        })
      ).status,
    })
    for (const [own, ...others] of SAME) {
      const expected = await answers(own)
      t.match(expected, { webhook: [own], feed: [own], log: own === 'sent' ? 0 : 1, exported: 200 }, own)
      for (const other of others) t.strictSame(await answers(other), expected, other)
    }
    const list = /sent.*bounced.*(opened.*clicked|dropped).*/
    for (const [path, body] of [
      [`/v2/webhooks/${id}`, { events: 'vanished' }],
      ['/v2/events/feed?types=vanished', undefined],
      [`/v2/logs?startdate=${day}&events=vanished`, undefined],
      [`/v2/stats/export?startdate=${day}&events=vanished`, undefined],
    ] as const)
      t.match(
        (await ask(body ? 'PATCH' : 'GET', path, body)).error_info?.error_message,
        list,
        `${path} answers the list`,
      )
  },
)
