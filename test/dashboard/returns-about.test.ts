import t from 'tap'
import { acceptMessage, envelopeTo } from '../core/submission.ts'
import { openDashboard, sendingOwner } from './dashboard.ts'

t.test('a return names the address and leads to the message that came back', async (t) => {
  const dashboard = await openDashboard(t)
  const ada = await sendingOwner(dashboard)
  const { service } = dashboard
  const accepted = await acceptMessage(service, ada, { envelopes: [envelopeTo('lena@harbor.example')] })
  const id = accepted.messageId.replaceAll('-', '')
  const { accountId } = ada
  await service.sql`
    insert into returns (kind, message_id, recipient_no, account_id, effect, reporter, size)
    values ('bounce', ${id}::uuid, 0, ${accountId}, 'bounced', 'mx.harbor.example', 900),
           ('bounce', uuidv7(), 0, null, 'none', 'other.example', 900), ('letter', null, null, null, 'none', 'eve.example', 900)`
  const list = await (await ada.get('/app/operator/returns')).text()
  t.match(list, new RegExp(`lena@harbor\\.example.*href="/app/${accountId}/messages/${id}">Open the message`, 's'))
  t.match(list, 'no message of this service')
  const path = /\/app\/operator\/returns\/[0-9a-f]{32}/g
  const pages = await Promise.all((list.match(path) ?? []).map(async (one) => (await ada.get(one)).text()))
  t.ok(pages.some((page) => /About<\/dt>.*lena@harbor\.example.*Open the message/s.test(page)))
  const other = await service.core.accounts.create('souq')
  await service.sql`update returns set account_id = ${other.id}, message_id = ${id}::uuid where kind = 'bounce'`
  t.notMatch(
    await (await ada.get('/app/operator/returns')).text(),
    'Open the message',
    'an account that the operator does not see',
  )
})
