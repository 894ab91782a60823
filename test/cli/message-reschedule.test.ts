import t from 'tap'
import { makeQueue } from '../core/delivery/queue-of.ts'
import { postrider } from './postrider.ts'

t.test('message reschedule, cancel and resend act on what is chosen', async (t) => {
  const { service, core, accept } = await makeQueue(t)
  const run = (...args: string[]) => postrider(service.env, 'message', ...args)
  const later = new Date(Math.floor(Date.now() / 1000) * 1000 + 3_600_000)
  const id = await accept(['lena@habror.example', 'mia@souq.example'], new Date(later.getTime() + 3_600_000))
  const hex = id.replaceAll('-', '')
  t.match(await run('reschedule', id, 'soon'), { code: 1, stderr: /must be a time like/ })
  t.match(await run('reschedule', id), { code: 2, stderr: /missing argument: when/ })
  t.match(await run('reschedule', id, later.toISOString()), {
    code: 0,
    stdout: `2 deliveries of message ${hex} scheduled for ${later.toISOString()}\n`,
  })
  t.match(await run('cancel', id, '--recipient-no', '1', '--yes'), {
    code: 0,
    stdout: `cancelled 1 delivery of message ${hex}\n`,
  })
  t.match(await run('cancel', id, '--recipient-no', 'one', '--yes'), {
    code: 2,
    stderr: /--recipient-no must be a number/,
  })
  t.strictSame(
    (await core.messages.show(id))?.deliveries.map(({ state }) => state),
    ['scheduled', 'dropped'],
  )
  t.match(await run('resend', id, '--to', 'lena@harbor.example'), {
    code: 1,
    stderr: /must be the number of one recipient/,
  })
  const sent = await run('resend', id, '--recipient-no', '0', '--to', 'lena@harbor.example')
  const [, again = ''] = /message ([0-9a-f]{32}) is sent/.exec(sent.stdout) ?? []
  t.match((await core.messages.show(again))?.deliveries, [{ recipient: 'lena@harbor.example' }])
  t.match(await run('reschedule', again, later.toISOString()), { code: 1, stderr: /waits for a scheduled time/ })
  t.match(await run('reschedule', 'x', later.toISOString()), { code: 1, stderr: /message "x" not found/ })
})
