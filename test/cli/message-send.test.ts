import t from 'tap'
import { startProcess } from '../helpers/processes.ts'
import { makeService } from '../helpers/service.ts'
import { startSink } from '../helpers/sink.ts'
import { answered, begin, postrider } from './postrider.ts'

const service = await makeService(t, { DELIVERY: 'sandbox' })
const { env, core } = service
const sender = await service.makeSender()
await service.openApi()
await service.openRelay()
for (const name of ['sandbox', 'delivery'] as const) await startProcess(t, name, env)
const from = ['--from', `desk@${sender.domain}`]
const key = ['--key', sender.apiKey]
const send = (...args: string[]) => postrider(env, 'message', 'send', ...args)

t.test('message send goes through each entry point, and --wait follows it until it is delivered', async (t) => {
  for (const via of ['v2', 'v3', 'smtp'] as const) {
    const subject = `Grüße über ${via}`
    const to = `lena.${via}@harbor.example`
    const { code, stdout, stderr } = await send(
      '--to',
      to,
      ...from,
      ...key,
      '--via',
      via,
      '--class',
      'urgent',
      '--subject',
      subject,
      '--wait',
    )
    t.equal(stderr, '')
    t.equal(code, 0)
    const [, id = ''] =
      new RegExp(
        `^message ([0-9a-f]{32}) accepted via ${via}\nfollow it with: postrider message show [0-9a-f]{32}\n${to}: delivered \\(250 .*\\)\n$`,
      ).exec(stdout) ?? []
    const story = await core.messages.show(id)
    t.match(story, { door: via, from: `desk@${sender.domain}`, settings: { class: 'urgent' } })
    const arrived = await answered<{ to: string; subject: string }[]>(env, 'inbox', 'list')
    t.match(
      arrived.filter((one) => one.to === to),
      [{ subject }],
      'it arrives once, with its subject',
    )
  }
})

t.test('--account finds the sender, and the key can be in the environment or on stdin', async (t) => {
  const account = ['--account', String(sender.accountId)]
  const sent = await answered<{ id: string; via: string }>(
    { ...env, POSTRIDER_API_KEY: sender.apiKey },
    'message',
    'send',
    '--to',
    'lena@harbor.example',
    ...account,
  )
  t.equal(sent.via, 'v2')
  t.match(await core.messages.show(sent.id), { from: `postmaster@${sender.domain}`, subject: 'Postrider test message' })
  const args = ['message', 'send', '--to', 'lena@harbor.example', ...account, '--key', '-']
  const { code, stdout } = await begin(env, args, `${sender.apiKey}\n`).ended
  t.equal(code, 0)
  t.match(stdout, /^message [0-9a-f]{32} accepted via v2\nfollow it with: postrider message show [0-9a-f]{32}\n$/)
})

t.test('a message that is not delivered ends --wait with exit status 1 and the reply', async (t) => {
  const { code, stdout, stderr } = await send('--to', 'bounce@harbor.example', ...from, ...key, '--wait')
  t.equal(code, 1)
  t.match(stdout, /\nbounce@harbor\.example: bounced \(550 5\.1\.1 .*\)\n$/)
  t.equal(stderr, 'postrider: not delivered\n')
  const suppressed = await send('--to', 'bounce@harbor.example', ...from, ...key, '--wait', '--json')
  t.equal(suppressed.code, 1)
  t.match(JSON.parse(suppressed.stdout), {
    deliveries: [{ recipient: 'bounce@harbor.example', state: 'dropped', attempt: 0 }],
  })
})

t.test('what an entry point rejects is shown, and the key never is', async (t) => {
  const foreign = ['--to', 'lena@harbor.example', '--from', 'desk@stranger.example']
  for (const [via, wrong, said] of [
    ['v2', [...foreign, ...key], /the Web API rejected the message with status 400: Invalid fromEmail/],
    ['v3', [...foreign, ...key], /the Web API rejected the message with status 403: /],
    [
      'smtp',
      [...foreign, ...key],
      /the relay at 127\.0\.0\.1:\d+ rejected MAIL FROM:<desk@stranger\.example>: 550 5\.7\.1/,
    ],
    ['v2', ['--to', 'a@b.example', ...from, '--key', 'pr_secret'], /status 401: Invalid api_key/],
    ['v3', ['--to', 'a@b.example', ...from, '--key', 'pr_secret'], /status 401: /],
    ['smtp', ['--to', 'a@b.example', ...from, '--key', 'pr_secret'], /rejected AUTH: 535 5\.7\.8/],
  ] as const) {
    const { code, stdout, stderr } = await send(...wrong, '--via', via)
    t.equal(code, 1, `${via}: ${stderr}`)
    t.match(stderr, said)
    t.notMatch(stderr, /pr_/)
    t.equal(stdout, '')
  }
})

t.test('a relay without STARTTLS gets no key', async (t) => {
  const sink = await startSink(t)
  const own = { ...env, RELAY_HOST: '127.0.0.1', RELAY_PORT: String(sink.port) }
  const { code, stderr } = await postrider(
    own,
    'message',
    'send',
    '--to',
    'a@b.example',
    ...from,
    ...key,
    '--via',
    'smtp',
  )
  t.equal(code, 1)
  t.match(stderr, /could not use the relay|rejected/)
  t.notOk(sink.commands.some((line) => line.startsWith('AUTH')))
})
