import t from 'tap'
import { startProcess } from '../helpers/processes.ts'
import { sendV2, v2Body } from '../helpers/send.ts'
import { makeService } from '../helpers/service.ts'
import { SmtpClient } from '../helpers/smtp-client.ts'
import { until } from '../helpers/until.ts'
import { answered, postrider, shell } from './postrider.ts'

interface Story {
  readonly id: string
  readonly deliveries: readonly { recipient: string; state: string; attempts: readonly { outcome: string }[] }[]
  readonly events: readonly { type: string; occurredAt: string }[]
}

const service = await makeService(t, { DELIVERY: 'sandbox' })
const { env } = service
const sender = await service.makeSender()
for (const name of ['sandbox', 'api', 'relay', 'delivery'] as const) await startProcess(t, name, env)
const base = `http://127.0.0.1:${service.config.apiPort}`

async function send(recipient: string, subject: string): Promise<string> {
  const sent = await sendV2(base, sender.apiKey, v2Body(sender, { personalizations: [{ recipient }], subject }))
  return sent.body.data?.message_id as string
}

t.test('health says of each process that it works', async (t) => {
  for (const name of ['api', 'relay', 'delivery', 'sandbox']) {
    t.strictSame(await answered(env, 'health', name), { process: name, healthy: true })
  }
})

t.test('inbox list and inbox show display what arrived, newest first', async (t) => {
  for (const subject of ['Berth 1', 'Berth 2 für Lena']) {
    await send('lena@harbor.example', subject)
    await until(subject, async () => (await list()).some((entry) => entry.subject === subject))
  }
  const entries = await list()
  t.strictSame(
    entries.map(({ subject }) => subject),
    ['Berth 2 für Lena', 'Berth 1'],
  )
  const [second] = entries
  t.strictSame(Object.keys(second as object), ['id', 'from', 'to', 'subject', 'receivedAt', 'sender'])
  t.equal(second?.to, 'lena@harbor.example')
  t.match(second?.from, /@relay\.test$/, 'the return path of the envelope, not the From header')
  const page = await (await fetch(`http://127.0.0.1:${service.config.sandboxHttpPort}/view/${second?.id}`)).text()
  t.match(page, /href="[^"]+\/app\/messages\/[0-9a-f]{32}"/, 'the inbox finds the history of what was really delivered')
  t.match((await postrider(env, 'inbox', 'list')).stdout, /Berth 2 für Lena\n.*Berth 1\n$/)
  const first = (await postrider(env, 'inbox', 'list', '--limit', '1')).stdout
  t.match(first, /Berth 2 für Lena\nolder messages: 1; show them with --limit\n$/)
  t.notMatch(first, 'Berth 1')

  const id = second?.id as string
  t.match(await answered(env, 'inbox', 'show', id), { ...second, html: /Your berth is ready/, attachments: [] })
  const shown = (await postrider(env, 'inbox', 'show', id)).stdout
  t.match(shown, /^Subject: {5}Berth 2 für Lena$/m)
  t.match(shown, /^From: +.*desk@ship\d+\.example/m, 'the From header, not the return path')
  const raw = await fetch(`http://127.0.0.1:${service.config.sandboxHttpPort}/messages/${id}/raw`)
  t.equal((await postrider(env, 'inbox', 'show', id, '--raw')).stdout, await raw.text(), 'octet for octet')

  const unknown = await postrider(env, 'inbox', 'show', 'nothing')
  t.equal(unknown.code, 1)
  t.match(unknown.stderr, /message not found in the inbox; "inbox list" lists the ids/)
})

t.test('message show tells the deliveries, attempts, events and suppressions in time order', async (t) => {
  const id = await send('bounce@harbor.example', 'Returned')
  await until('the bounce', async () => (await service.core.messages.show(id))?.deliveries[0]?.state === 'bounced')
  const story = await answered<Story>(env, 'message', 'show', id)
  t.match(story, {
    id,
    deliveries: [{ recipient: 'bounce@harbor.example', state: 'bounced', attempts: [{ outcome: 'bounced' }] }],
  })
  t.strictSame(
    story.events.map(({ type }) => type),
    ['processed', 'bounced'],
  )
  const { stdout } = await postrider(env, 'message', 'show', id)
  t.match(stdout, new RegExp(`^message ${id} via v2, accepted 20`))
  t.match(stdout, /processed.*\n.*attempt 1: bounced .*550 5\.1\.1 .*ms\n.*bounced.*\n.*suppressed: hardbounce/)
  const times = [...stdout.split('\ntime ')[1]!.matchAll(/^(\S+Z) /gm)].map(([, time]) => time)
  t.equal(times.length, 4)
  t.strictSame(times, [...times].sort())
})

t.test('what came from outside cannot steer the terminal it is shown on', async (t) => {
  // An encoded word (RFC 2047) brings any octet into a subject.
  const subject = `=?utf-8?B?${Buffer.from('red \u001b[31m\u009b2J \u202etxt.exe').toString('base64')}?=`
  const message = `From: desk@${sender.domain}\r\nTo: lena@harbor.example\r\nSubject: ${subject}\r\n\r\nbody \u001b]0;title\u0007, Grüße\r\n`
  const client = await SmtpClient.connect(t, { port: service.config.sandboxSmtpPort })
  t.match(await client.reply(), /^220/)
  t.match(await client.command('EHLO client.test'), /^250/)
  t.match(await client.submit(`desk@${sender.domain}`, 'lena@harbor.example', message), /^250/)
  const id = (await list())[0]?.id as string
  for (const command of [['list'], ['show', id]]) {
    const { stdout } = await postrider(env, 'inbox', ...command)
    // The inbox has written a blank for each control character of the field.
    t.match(stdout, 'red  [31m 2J \ufffdtxt.exe')
    t.notMatch(stdout, /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202e]/)
  }
  t.equal((await postrider(env, 'inbox', 'show', id, '--raw')).stdout, message, 'raw is raw')
})

function list(): Promise<{ id: string; from: string; to: string; subject: string }[]> {
  return answered(env, 'inbox', 'list')
}

t.test('events lists what happened by its numbers, and follows new events on request', async (t) => {
  const account = String(sender.accountId)
  await send('lena@harbor.example', 'Berth 5')
  interface Told {
    readonly number: number
    readonly type: string
  }
  const told = await until('the delivery to be told', async () => {
    const all = await answered<Told[]>(env, 'events', '--account', account)
    return all.some(({ type }) => type === 'sent') && all
  })
  t.strictSame(
    told.map(({ number }) => number),
    told.map((_event, at) => at + 1),
  )
  t.match(
    (await postrider(env, 'events', '--account', account)).stdout,
    /^ *1 .*domain.*\n(.*\n)*.*sent.*lena@harbor\.example/m,
  )
  const { number: last = 0 } = told.at(-1) ?? {}
  const behind = await answered<Told[]>(env, 'events', '--account', account, '--after', String(last - 1))
  t.equal(behind[0]?.number, last)
  const line = `${process.execPath} packages/cli/src/postrider.ts events --account ${account} --after 0 --follow --json`
  const settings = Object.entries(env).map(([name, value]) => `${name}='${value}'`)
  let ended = false
  const following = shell(`env ${settings.join(' ')} ${line} | head -n ${last + 1}`).finally(() => (ended = true))
  // What comes ends the reader, which has had enough, and then the command, which notices.
  await until(
    'the command to end',
    async () => {
      if (!ended) await send('lena@harbor.example', 'Berth 6')
      return ended
    },
    40_000,
  )
  const { stdout } = await following
  t.strictSame(
    stdout
      .trim()
      .split('\n')
      .map((text) => (JSON.parse(text) as Told).number),
    Array.from({ length: last + 1 }, (_, at) => at + 1),
  )
  t.match(await postrider(env, 'events', '--account', '999999'), { code: 1, stderr: /account 999999 not found/ })
})

t.test('message show has what the sender gave besides the mail', async (t) => {
  const schedule = new Date(Date.now() + 3_600_000)
  schedule.setUTCMilliseconds(0)
  const [lena, emil] = ['lena@harbor.example', 'emil@harbor.example']
  const sent = await sendV2(
    base,
    sender.apiKey,
    v2Body(sender, {
      personalizations: [{ recipient: lena, 'x-apiheader': 'order-7', metadata: { ship: 'Ann' } }, { recipient: emil }],
      tags: ['berth', 'harbor'],
      schedule: schedule.toISOString(),
      settings: { keepContent: false },
    }),
  )
  const { stdout } = await postrider(env, 'message', 'show', sent.body.data?.message_id as string)
  for (const line of [
    'tags: berth, harbor',
    `scheduled for ${schedule.toISOString()}`,
    'its content is removed after the last outcome',
    'own data of 0: reference=order-7, ship=Ann',
  ])
    t.ok(stdout.includes(`${line}\n`), line)
  t.notMatch(stdout, 'own data of 1')
})
