import { createHmac } from 'node:crypto'
import t from 'tap'
import { countAll, happen } from '../core/reporting/statistics/happen.ts'
import { acceptMessage } from '../core/submission.ts'
import { answer, startReceiver } from '../helpers/receiver.ts'
import { makeService } from '../helpers/service.ts'
import { until } from '../helpers/until.ts'
import { postrider } from './postrider.ts'
import { spawnListening } from './webhook-listening.ts'

t.test(
  'what a webhook would get is sent to a program on this machine, signed with the secret that is printed',
  async (t) => {
    const service = await makeService(t)
    const url = await service.openApi()
    const sender = await service.makeSender()
    const program = await startReceiver(t)
    const listening = spawnListening(t, { POSTRIDER_API_KEY: sender.apiKey }, [
      '--server',
      url,
      '--forward-to',
      program.url,
      '--events',
      'delivered,bounce',
    ])
    await listening.says('forwarding events to')
    const [, secret = ''] = /^secret (whsec_\S+)$/m.exec(listening.said()) ?? []
    const { messageId } = await acceptMessage(service, sender)
    await happen(service, sender.accountId, { type: 'sent', messageId, detail: { code: 250, reply: 'Ok' } })
    await countAll(service)
    const [request] = await until('the request', () => program.batches().length > 0 && program.batches())
    const { body = '', headers = {} } = request ?? {}
    t.match(
      JSON.parse(body),
      [{ EVENT: 'sent', EMAIL: 'lena@harbor.example', MSIZE: Number, EVENTID: /^evt_/ }],
      'not what was accepted',
    )
    const signed = `${headers['webhook-id']}.${headers['webhook-timestamp']}.${body}`
    const key = Buffer.from(secret.slice('whsec_'.length), 'base64')
    t.equal(headers['webhook-signature'], `v1,${createHmac('sha256', key).update(signed).digest('base64')}`)
    await listening.says('  sent  200  ')
    program.react = answer(500)
    await happen(service, sender.accountId, { type: 'bounced', messageId, detail: { class: 'bad-mailbox' } })
    await countAll(service)
    await listening.says('  bounced  500  ')
    listening.stop()
    t.match(await listening.ended, 0)
  },
)

t.test('an invalid key, event or URL ends it with the reason', async (t) => {
  const service = await makeService(t)
  const url = await service.openApi()
  const { apiKey } = await service.makeSender()
  const run = (env: Record<string, string>, ...args: string[]) =>
    postrider(env, 'webhook', 'listen', '--server', url, '--forward-to', 'http://127.0.0.1:1/', ...args)
  t.match(await run({}), { code: 2, stderr: /missing option --key \(or the environment variable POSTRIDER_API_KEY\)/ })
  t.match(await run({ POSTRIDER_API_KEY: 'pr_wrong' }), { code: 1, stderr: /refused the call \(401\)/ })
  const unknown = await run({ POSTRIDER_API_KEY: apiKey }, '--events', 'vanished')
  t.match(unknown, { code: 1, stderr: /Invalid event: vanished\. The events are: sent, bounced/ })
  const wrong = await postrider({ POSTRIDER_API_KEY: apiKey }, 'webhook', 'listen', '--forward-to', 'localhost:3000')
  t.match(wrong, { code: 2, stderr: /--forward-to must be an http or https URL \(got "localhost:3000"\)/ })
})
