import t from 'tap'
import { startInternetProcess } from '../delivery/outbox.ts'
import { sendV2, v2Body } from '../helpers/send.ts'
import { until } from '../helpers/until.ts'

const LIMIT = 2
/** Messages per second that the host takes. */
const RATE = 20
const COUNT = 2000
const ASKED = 1000

t.test(
  'the expected times of mail that waits for connections are right within 30 % or 5 s',
  { timeout: 300_000 },
  async (t) => {
    const internet = await startInternetProcess(t, { SITE_CONNECTIONS: String(LIMIT) })
    const { service, sender } = internet
    const arrived = new Map<string, number>()
    const host = await internet.host(t, {
      dot: async ({ message }) => {
        await new Promise((resolve) => setTimeout(resolve, (1000 * LIMIT) / RATE))
        arrived.set(message.to[0] ?? '', Date.now())
        return undefined
      },
    })
    const domain = internet.domain([host])
    const base = `http://127.0.0.1:${service.config.apiPort}`
    const ids: string[] = []
    for (let at = 0; at < COUNT; at += 50) {
      const personalizations = Array.from({ length: 50 }, (_, one) => ({ recipient: `r${at + one}@${domain}` }))
      const { body } = await sendV2(base, sender.apiKey, v2Body(sender, { personalizations }))
      ids.push(body.data?.message_id as string)
    }
    await until('the mail to be tried for a while', () => arrived.size >= 20 * RATE, 60_000)
    const expected = new Map<string, number>()
    const askedAt = Date.now()
    for (const id of ids.reverse()) {
      const why = await service.core.messages.why({ messageId: id })
      for (const one of why?.deliveries ?? []) {
        const at = one.expected?.p50?.getTime()
        if (at !== undefined && expected.size < ASKED) expected.set(one.recipient, at)
      }
    }
    t.comment(`${expected.size} expected times, asked within ${Date.now() - askedAt} ms`)
    t.ok(expected.size >= ASKED * 0.9)
    await until('all of it', () => arrived.size === COUNT, 200_000)
    const right = [...expected].filter(([recipient, at]) => {
      const actual = arrived.get(recipient) ?? 0
      return Math.abs(at - actual) <= Math.max(5000, 0.3 * (actual - askedAt))
    })
    t.comment(`figures: ${right.length} of ${expected.size} within 30 % or 5 s`)
    t.ok(right.length >= expected.size * 0.9)
  },
)
