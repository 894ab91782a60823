import t from 'tap'
import { countAll, happen } from '../core/reporting/statistics/happen.ts'
import { acceptMessage, envelopeTo } from '../core/submission.ts'
import { openDashboard } from './dashboard.ts'
import { member } from './members.ts'

t.test('the overview says that all is well only if the rates are not too high', async (t) => {
  const dashboard = await openDashboard(t)
  const { service } = dashboard
  const sender = await service.makeSender()
  const ada = await member(dashboard, sender)
  const shown = async () => (await ada.get(`/app/${sender.accountId}`)).text()
  const { messageId } = await acceptMessage(service, sender, {
    envelopes: ['ada@harbor.example', 'bob@harbor.example', 'eve@lumen.example'].map((to) => envelopeTo(to)),
  })
  const of = (type: string, recipientNo: number, detail = {}) => ({ type, messageId, recipientNo, detail })
  await happen(service, sender.accountId, of('sent', 0), of('sent', 1))
  await countAll(service)
  t.match(await shown(), 'All is well')

  await happen(service, sender.accountId, of('bounced', 2, { class: 'bad-mailbox' }))
  await countAll(service)
  const text = await shown()
  t.match(
    text,
    /Bounce rate: 33\.3 %<\/b><p>33\.3 %, 1 of 3 in 30 days; too much from 5\.0 %\. Providers look twice above 2 %/,
  )
  t.match(text, 'Something needs you; see below.')
  t.notMatch(text, 'All is well')
})
