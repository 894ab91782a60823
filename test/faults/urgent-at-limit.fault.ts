import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { startInternetProcess } from '../delivery/outbox.ts'
import { keep } from '../helpers/keeper.ts'
import { sendV2, v2Body } from '../helpers/send.ts'
import { until } from '../helpers/until.ts'

const BULK = 10_000
const PER_CALL = 1000
const URGENT = 20
const LIMIT_MS = 3000

t.test(
  'urgent mail behind 10,000 bulk deliveries at a provider at its limit arrives within three seconds, whichever worker claims it',
  { timeout: 240_000 },
  async (t) => {
    const file = join(t.testdir(), 'providers.yaml')
    writeFileSync(file, 'providers: [{ name: slow, mx: [.slow.example], connections: 5 }]\n')
    const internet = await startInternetProcess(t, { PROVIDERS_FILE: file })
    const { service, sender } = internet
    const arrived = new Map<string, number>()
    const host = await internet.host(
      t,
      {
        dot: async ({ message }) => {
          await new Promise((resolve) => setTimeout(resolve, 100))
          const [to = ''] = message.to
          if (to.startsWith('urgent')) arrived.set(to, performance.now())
          return undefined
        },
      },
      'slow.example',
    )
    await keep(t, 'delivery', service.env)
    const domain = internet.domain([host])
    const base = `http://127.0.0.1:${service.config.apiPort}`
    const send = async (recipients: readonly string[], of: string): Promise<void> => {
      const personalizations = recipients.map((recipient) => ({ recipient }))
      const { status } = await sendV2(
        base,
        sender.apiKey,
        v2Body(sender, { personalizations, settings: { class: of } }),
      )
      if (status !== 200) throw new Error(`not accepted: ${status}`)
    }
    for (let sent = 0; sent < BULK; sent += PER_CALL)
      await send(
        Array.from({ length: PER_CALL }, (_, at) => `bulk${sent + at}@${domain}`),
        'bulk',
      )
    await until('bulk mail to be under way', () => host.messages.length > 50 || undefined)
    const latencies: number[] = []
    for (let no = 0; no < URGENT; no++) {
      const to = `urgent${no}@${domain}`
      const began = performance.now()
      await send([to], 'urgent')
      const at = await until('it to arrive', () => arrived.get(to), 30_000)
      latencies.push(Math.round(at - began))
    }
    t.comment(`urgent: ${latencies.sort((a, b) => a - b).join(', ')} ms`)
    t.ok((latencies.at(-1) as number) <= LIMIT_MS, `the slowest took ${latencies.at(-1)} ms`)
    const left = BULK + URGENT - host.messages.length
    t.ok(left > BULK / 2, `${left} were still waiting`)
  },
)
