import { type Config, createCore, createLog, readConfig } from '@postrider/core'
import { simpleParser } from 'mailparser'
import { Webhook } from 'standardwebhooks'
import t, { type Test } from 'tap'
import { postrider } from '../cli/postrider.ts'
import { bounceReport } from '../delivery/reports.ts'
import { trackedOf } from '../delivery/tracked.ts'
import { addWebhook, LOOPBACK } from '../delivery/webhook-worker.ts'
import { signWithEd25519 } from '../helpers/ed25519.ts'
import { type ServiceProcess, startProcess } from '../helpers/processes.ts'
import { startReceiver } from '../helpers/receiver.ts'
import { sendV2, v2Body } from '../helpers/send.ts'
import { makeService, type TestService } from '../helpers/service.ts'
import { type SinkMessage, startSink } from '../helpers/sink.ts'
import { until } from '../helpers/until.ts'

const NEW = 'the key that replaces it, of 32 characters'
const LINK = /http:\/\/127\.0\.0\.1:\d+(\/t\/c\/[\w-]+)/

t.test('SECRET_KEY is rotated while mail flows, and what was made before works', async (t) => {
  const sink = await startSink(t)
  const service = await makeService(t, { ...LOOPBACK, DELIVERY: `smtp://127.0.0.1:${sink.port}` })
  const base = `http://127.0.0.1:${service.config.apiPort}`
  const env = { ...service.env, PUBLIC_URL: base }
  const OLD = service.env.SECRET_KEY as string
  const BOTH = { ...env, SECRET_KEY: NEW, SECRET_KEY_PREVIOUS: OLD }
  const sender = await service.makeSender({ tracking: true })
  await signWithEd25519(service, sender)
  const receiver = await startReceiver(t)
  const { secret } = await addWebhook(service, sender, receiver.url, { eventIds: false })
  // The test itself knows only the former key, but seals nothing from now on.
  // Again until it is done: on a busy machine, a connection opens when the others have already named themselves.
  await until('all connections to have another name', async () => {
    await Promise.all(
      [1, 2, 3].map(() => service.sql`select set_config('application_name', 'the test', false), pg_sleep(0.3)`),
    )
    const [row] = await service.sql<{ renamed: number }[]>`
      select count(*)::int as renamed from pg_stat_activity where datname = current_database() and application_name = 'the test'`
    return row?.renamed === 3
  })
  const programs = new Map<'api' | 'delivery', ServiceProcess>()
  const restart = async (name: 'api' | 'delivery', settings: Record<string, string>) => {
    await programs.get(name)?.stop()
    programs.set(name, await startProcess(t, name, settings))
  }
  const sent: string[] = []
  const send = async (recipient = 'lena@harbor.example'): Promise<string> => {
    const personalizations = [{ recipient }]
    const body = v2Body(sender, { personalizations, content: '<p>See <a href="https://ship.example/track">it</a></p>' })
    const answer = await sendV2(base, sender.apiKey, body)
    if (!answer.body.data) throw new Error(`not accepted: ${JSON.stringify(answer.body)}`)
    sent.push(answer.body.data.message_id)
    return answer.body.data.message_id
  }
  const arrived = (id: string) =>
    until(`message ${id}`, () => sink.messages.find(({ data }) => data.includes(id)), 20_000) as Promise<SinkMessage>
  const click = async ({ data }: SinkMessage): Promise<number> => {
    const path = LINK.exec(String((await simpleParser(data)).html))?.[1]
    return (await fetch(`${base}${path}`, { redirect: 'manual' })).status
  }

  await restart('api', env)
  await restart('delivery', env)
  const before = await arrived(await send())
  const bounced = await arrived(await send('gone@harbor.example'))
  t.equal(await click(before), 302)

  t.comment('Nothing changes until every process knows both keys.')
  t.match(await postrider({ ...env, SECRET_KEY: NEW }, 'secret', 'rotate'), { code: 1, stderr: /SECRET_KEY_PREVIOUS/ })
  t.match(await postrider(env, 'secret', 'rotate'), { code: 1, stderr: /SECRET_KEY_PREVIOUS is not set/ })
  t.match(await postrider(BOTH, 'secret', 'rotate'), {
    code: 1,
    stderr: /api on 127.0.0.1 \(\d+ connections?, from ports? [\d, ]+.*\), delivery on 127.0.0.1/,
  })
  const exchanged = { ...env, SECRET_KEY: OLD, SECRET_KEY_PREVIOUS: 'k'.repeat(32) }
  t.match(await postrider(exchanged, 'secret', 'rotate'), {
    code: 0,
    stdout:
      /^SECRET_KEY was in use before, so nothing was rotated, .*\n[\s\S]*set it to the new one and SECRET_KEY_PREVIOUS to/,
  })
  t.match(JSON.parse((await postrider(exchanged, 'secret', 'rotate', '--json')).stdout), { rotated: false })
  await restart('delivery', BOTH)
  t.equal(await click(await arrived(await send())), 302, 'the API reads what a process with both keys makes')
  t.match(await postrider(BOTH, 'secret', 'rotate'), {
    code: 1,
    stderr: /SECRET_KEY_PREVIOUS: api on 127.0.0.1 \([^()]*\); restart/,
  })
  await restart('api', BOTH)
  t.match(await postrider(BOTH, 'secret', 'status'), { code: 0, stdout: /A key of SECRET_KEY_PREVIOUS is in use/ })
  t.match((await postrider(BOTH, 'doctor')).stdout, /SECRET_KEY is not in use yet/)

  t.comment('Mail flows while everything is sealed again.')
  let isRotating = true
  const flow = (async () => {
    while (isRotating) {
      await send()
      await new Promise((resolve) => setTimeout(resolve, 500))
    }
  })()
  const rotated = await postrider(BOTH, 'secret', 'rotate', '--json').finally(() => (isRotating = false))
  await flow
  t.match(rotated, { code: 0, stdout: /"rotated":true/ })
  const kinds = JSON.parse(rotated.stdout).sealed as { what: string; former: number; unreadable: number }[]
  t.equal(kinds.find(({ what }) => what === 'DKIM keys')?.former, 2, 'of RSA and of Ed25519')
  t.equal(kinds.find(({ what }) => what === 'secrets of webhooks')?.former, 3)
  t.ok(kinds.every(({ unreadable }) => unreadable === 0))
  t.match((await postrider(BOTH, 'secret', 'rotate')).stdout, /is sealed with it\.\n.* resealed now /)
  for (const id of sent) await arrived(id)
  t.equal(await click(before), 302, 'a link of before')
  t.match(
    await withKeys(t, service, { SECRET_KEY: NEW, SECRET_KEY_PREVIOUS: OLD }, ({ returns }) =>
      returns.take({ raw: Buffer.from(bounceReport(bounced.from)), recipients: [bounced.from] }),
    ),
    { effect: 'bounced' },
    'a bounce of mail of before',
  )
  t.match(await postrider(env, 'account', 'list'), { code: 1, stderr: /SECRET_KEY differs/ }, 'the former key alone')

  t.comment('Without the former key, all that is stored can be read.')
  await restart('delivery', { ...env, SECRET_KEY: NEW })
  await restart('api', { ...env, SECRET_KEY: NEW })
  const requests = receiver.requests.length
  const id = await send()
  const last = await arrived(id)
  t.equal(await click(last), 302)
  t.not(await click(before), 302, 'the link of before needs the former key')
  const { body, headers } = await until('the webhook', () => receiver.requests[requests])
  t.doesNotThrow(() => new Webhook(secret).verify(body, headers as Record<string, string>), 'signed as before')
  const { verdict } = trackedOf({ service } as never, sink)
  const both = `pass ${sender.domain},pass ${sender.domain}`
  for (const one of [before, last]) t.equal(await verdict(sender, one.data), both)
  t.match(await postrider({ ...env, SECRET_KEY: NEW }, 'secret', 'status'), { code: 0, stdout: /SECRET_KEY is in use/ })
})

async function withKeys<T>(
  t: Test,
  { sql, env }: TestService,
  keys: Record<string, string>,
  act: (core: ReturnType<typeof createCore>) => Promise<T>,
): Promise<T> {
  const config: Config = readConfig({ ...env, ...keys })
  const core = createCore({ sql, config, log: createLog('test', 'silent') })
  t.teardown(() => core.readiness.close())
  await core.readiness.check()
  return act(core)
}
