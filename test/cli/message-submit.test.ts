import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { makeService } from '../helpers/service.ts'
import { mail } from '../relay/session.ts'
import { postrider } from './postrider.ts'

const service = await makeService(t)
const { env, core } = service
const sender = await service.makeSender()
await service.openApi()
const key = ['--key', sender.apiKey]
const folder = t.testdir()

function file(message: string): string {
  const path = join(folder, 'berth.eml')
  writeFileSync(path, message)
  return path
}

t.test(
  'message submit sends a message from a file to the recipients of its header, or to those that are given',
  async (t) => {
    const message = file(mail(sender).replaceAll('\r\n', '\n'))
    const { code, stdout, stderr } = await postrider(env, 'message', 'submit', message, ...key)
    t.strictSame([code, stderr], [0, ''])
    const [, id = ''] =
      /^message ([0-9a-f]{32}) accepted\nfollow it with: postrider message show [0-9a-f]{32}\n$/.exec(stdout) ?? []
    t.strictSame(
      (await core.messages.show(id))?.deliveries.map(({ recipient }) => recipient),
      ['lena@harbor.example'],
    )
    const to = ['--to', 'ada@harbor.example', '--to', 'bob@harbor.example']
    const given = await postrider(env, 'message', 'submit', message, ...to, ...key, '--json')
    const { message_id: second } = JSON.parse(given.stdout) as { message_id: string }
    t.strictSame((await core.messages.show(second))?.deliveries.map(({ recipient }) => recipient).sort(), [
      'ada@harbor.example',
      'bob@harbor.example',
    ])
  },
)

t.test('it says what was corrected, and why a message is dropped or refused', async (t) => {
  const odd = await postrider(
    env,
    'message',
    'submit',
    file(mail(sender).replace('Ship Desk', 'Ship Desk, Inc.')),
    ...key,
  )
  t.match(odd.stdout, /^message [0-9a-f]{32} accepted\ncorrected: quotes were added to the name in From\n/)
  const dropped = await postrider(env, 'message', 'submit', file(mail(sender, 'X-SMTPAPI: {"to":7}\r\n')), ...key)
  t.strictSame([dropped.code, /X-SMTPAPI to: must be/.test(dropped.stdout)], [1, true])
  const refused = await postrider(
    env,
    'message',
    'submit',
    file(mail(sender).replaceAll(sender.domain, 'a.example')),
    ...key,
  )
  t.equal(refused.code, 1)
  t.match(
    refused.stderr,
    /rejected the message with status 400: Invalid fromEmail, authentication failed: a\.example is not/,
  )
})

t.test('with an idempotency key it is sent once', async (t) => {
  const once = () => postrider(env, 'message', 'submit', file(mail(sender)), '--idempotency-key', 'one', ...key)
  t.equal((await once()).stdout, (await once()).stdout)
})
