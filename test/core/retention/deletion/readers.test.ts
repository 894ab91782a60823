import t from 'tap'
import { makeReaders } from '../../../api/tracking/readers.ts'
import { bounceReport } from '../../../delivery/reports.ts'
import { SmtpClient } from '../../../helpers/smtp-client.ts'
import { closeAccount, removeAll } from './deleted.ts'

const readers = await makeReaders(t, { RETURN_PATH_HOST: 'bounces.test' })
const { service, sender, ask, pixel, link, leave, seen, deliver, pass } = readers
const { core, sql } = service
await service.openReturns()

const pathOf = (messageId: string) =>
  `${core.deliveries.returnPath({ messageId, recipientNo: 0 }, Date.now())}@bounces.test`

async function bounce(path: string): Promise<string> {
  const client = await SmtpClient.connect(t, { port: service.config.returnsPort })
  await client.reply()
  await client.command('EHLO mx.harbor.example')
  return client.submit('', path, bounceReport(path))
}

t.test('while an account is closed, links in its mail work, and its bounces have their effect', async (t) => {
  const [message, other] = [await deliver(), await deliver(['nils@harbor.example'])]
  await closeAccount(service, sender.accountId, 1)
  t.equal((await ask(pixel(message))).status, 200)
  t.match(await ask(link(message, 'https://harbor.example/berths')), {
    status: 302,
    headers: { location: 'https://harbor.example/berths' },
  })
  t.equal((await ask(leave(message), { method: 'POST', body: 'List-Unsubscribe=One-Click' })).status, 200)
  t.strictSame((await seen(message)).map(({ type }) => type).sort(), ['clicked', 'opened', 'unsubscribed'])
  t.match(await bounce(pathOf(other)), /^250 /)
  t.match(
    (await core.suppressions.holding(sender.accountId, 'nils@harbor.example')).map(({ reason }) => reason),
    ['hardbounce'],
  )
})

t.test(
  'once it is deleted, they answer like those of mail that is no longer stored, and nothing is stored',
  async (t) => {
    const other = await service.makeSender()
    const of = { accountId: other.accountId }
    const messageId = await deliver(['olga@harbor.example'], other)
    const unknown = '0197a0b1c2d37e4f8a9bacbdcedfe0f1'
    const answers = async (id: string) => {
      const all = [
        await ask(pixel(id, of)),
        await ask(link(id, 'https://harbor.example/berths', of)),
        await ask(leave(id, of)),
        await ask(leave(id, of), { method: 'POST', body: 'List-Unsubscribe=One-Click' }),
      ]
      return all.map(({ status, text }) => `${status} ${text.replaceAll(/\/t\/[^"]*/g, '')}`)
    }
    await closeAccount(service, of.accountId, 0)
    await pass(400)
    await removeAll(service)
    t.equal((await sql`select from messages where id = ${messageId}::uuid`).count, 0)
    t.strictSame(await answers(messageId), await answers(unknown))
    t.match(await bounce(pathOf(messageId)), /^250 /)
    for (const table of ['events', 'suppressions', 'hits', 'forgotten', 'returns'])
      t.equal((await sql`select from ${sql(table)} where account_id = ${of.accountId}`).count, 0, table)
  },
)
