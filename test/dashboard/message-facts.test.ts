import t, { type Test } from 'tap'
import { postrider } from '../cli/postrider.ts'
import { BOUNCED, DELIVERED } from '../core/delivery/queue-of.ts'
import { happen } from '../core/reporting/statistics/happen.ts'
import { claimDue } from '../helpers/claim.ts'
import { registerWorker } from '../helpers/lease.ts'
import { sendV2, v2Body } from '../helpers/send.ts'
import { openSession, queueId } from '../relay/session.ts'
import { openDashboard, sendingOwner } from './dashboard.ts'

/** What the dashboard, the API and the command line show of messages, as text. */
async function makeFacts(t: Test) {
  const dashboard = await openDashboard(t)
  const { service, url } = dashboard
  const ada = await sendingOwner(dashboard)
  const page = async (path: string) =>
    (await (await ada.get(`/app/${ada.accountId}/messages${path}`)).text())
      .replace(/\s+/g, ' ')
      .replace(/<\/?bdi>/g, '')
  const api = async (path: string) => {
    const answer = await fetch(`${url}/v2/messages${path}`, { headers: { api_key: ada.apiKey } })
    return (await answer.json()) as { data: unknown }
  }
  const command = async (...args: string[]) => (await postrider(service.env, 'message', ...args)).stdout
  return { ada, service, url, page, api, command }
}

const REPORTED = { late: true, code: 550, enhanced: '5.1.1', class: 'bad-mailbox', reply: 'User unknown' }

t.test('a bounce that is reported after the delivery is shown wherever the delivery is', async (t) => {
  const { ada, service, url, page, api, command } = await makeFacts(t)
  const send = async () => {
    const { body } = await sendV2(url, ada.apiKey, v2Body(ada))
    return body.data?.message_id as string
  }
  const [good, bad, requeued] = [await send(), await send(), await send()]
  const { workerId } = await registerWorker(t, service.core)
  const claimed = await claimDue(service.core, { workerId, limit: 10 })
  await service.core.deliveries.record(claimed.map((one) => ({ ...one, workerId, outcome: DELIVERED })))
  await happen(service, ada.accountId, { type: 'bounced', messageId: bad, detail: REPORTED })
  // An attempt before the one that succeeded.
  await happen(service, ada.accountId, {
    type: 'bounced',
    messageId: requeued,
    detail: { ...REPORTED, late: undefined },
  })

  const late = { state: 'delivered', bouncedAt: /Z$/, bounce: '550 5.1.1 User unknown' }
  const none = { state: 'delivered', bouncedAt: null, bounce: null }
  t.match(await api(''), {
    data: [
      { messageId: requeued, ...none },
      { messageId: bad, ...late },
      { messageId: good, ...none },
    ],
  })
  t.match(await api(`/${bad}`), { data: { deliveries: [late] } })
  t.match(await api(`/${requeued}`), { data: { deliveries: [none] } })
  const rows = (text: string) => text.split('\n').filter((line) => line.includes('then bounced'))
  const listed = rows(await command('list'))
  t.equal(listed.length, 1)
  t.match(listed[0], bad)
  t.equal(rows(await command('show', bad)).length, 1)
  t.equal(rows(await command('show', good)).length, 0)
  t.notMatch((await service.core.messages.why({ messageId: requeued }))?.deliveries[0]?.text, 'undeliverable')

  const list = await page('')
  const row = (id: string) => new RegExp(`<tr id="d-${id}-0">.*?</tr>`).exec(list)?.[0]
  t.match(row(bad), /Bounced later.*550 5\.1\.1 User unknown/)
  t.match(row(good), 'Delivered')
  t.notMatch(row(good), 'Bounced')
  const shown = await page(`/${bad}`)
  t.match(shown, '1 bounced later')
  t.match(shown, /Bounced later<\/b> after .* says that it was not delivered after all\. The address does not exist\./)
  t.notMatch(await page(`/${good}`), /Bounced later<\/b> after/)
})

t.test('a bounce at an attempt is no late one', async (t) => {
  const { ada, service, url, api, command } = await makeFacts(t)
  await sendV2(url, ada.apiKey, v2Body(ada))
  const { workerId } = await registerWorker(t, service.core)
  const claimed = await claimDue(service.core, { workerId, limit: 10 })
  await service.core.deliveries.record(claimed.map((one) => ({ ...one, workerId, outcome: BOUNCED })))
  t.match(await api(''), { data: [{ state: 'bounced', bouncedAt: null, bounce: null }] })
  t.notMatch(await command('list'), 'then bounced')
})

t.test('what a sender asked to be notified of is shown at the message and its recipients', async (t) => {
  const { ada, service, url, page, api, command } = await makeFacts(t)
  await service.openRelay()
  const desk = `desk@${ada.domain}`
  const submit = async (mail: string, ...recipients: string[]) => {
    const client = await openSession(t, service, ada)
    t.match(await client.command(`MAIL FROM:<${desk}>${mail}`), /^250 /)
    for (const recipient of recipients) t.match(await client.command(`RCPT TO:${recipient}`), /^250 /)
    t.match(await client.command('DATA'), /^354 /)
    return queueId(await client.finish(`From: ${desk}\r\nSubject: s\r\n\r\nhello\r\n`))
  }
  const asked = await submit(
    ' RET=FULL ENVID=QQ+3C1',
    '<a@harbor.example> NOTIFY=SUCCESS,FAILURE ORCPT=rfc822;old@harbor.example',
    '<b@harbor.example> NOTIFY=NEVER',
  )
  t.match(await api(`/${asked}`), {
    data: {
      notifications: { to: desk, full: true, envelopeId: 'QQ<1' },
      deliveries: [
        { notify: ['success', 'failure'], originalRecipient: 'rfc822;old@harbor.example' },
        { notify: [], originalRecipient: null },
      ],
    },
  })
  const shown = await command('show', asked)
  t.match(shown, `notifications by mail to ${desk}, with the whole message of a failure (RET=FULL), ENVID QQ<1\n`)
  t.match(shown, /a@harbor\.example .*success, failure \(ORCPT rfc822;old@harbor\.example\)\n/)
  t.match(shown, /b@harbor\.example .*never\n/)
  const html = await page(`/${asked}`)
  t.match(html, `Notifications by mail: <span class="any">${desk}</span> · RET=FULL · ENVID=QQ&lt;1`)
  t.match(html, 'Notifications: delivery, failure. Original recipient: rfc822;old@harbor.example.')
  t.match(html, 'No notifications.')

  const plain = await submit('', '<a@harbor.example>')
  t.match(await api(`/${plain}`), {
    data: { notifications: null, deliveries: [{ notify: null, originalRecipient: null }] },
  })
  t.notMatch(await command('show', plain), /notif/)
  t.notMatch(await page(`/${plain}`), /otification/)
  const { body } = await sendV2(url, ada.apiKey, v2Body(ada))
  t.match(await api(`/${body.data?.message_id}`), { data: { notifications: null, deliveries: [{ notify: null }] } })
})

t.test('a message whose content is not kept says so, before its last outcome and after it', async (t) => {
  const { ada, service, url, page, api } = await makeFacts(t)
  const { body } = await sendV2(url, ada.apiKey, v2Body(ada, { settings: { keepContent: 0 } }))
  const id = body.data?.message_id as string
  t.match(await page(`/${id}`), /Its content will be removed after the last outcome/)
  t.match(await api(''), { data: [{ messageId: id, keepContent: false }] })
  const { workerId } = await registerWorker(t, service.core)
  const claimed = await claimDue(service.core, { workerId, limit: 10 })
  await service.core.deliveries.record(claimed.map((one) => ({ ...one, workerId, outcome: DELIVERED })))
  while (await service.core.retention.removeContents());
  t.match(await page(`/${id}`), /Its content was not kept/)
  t.match(await api(`/${id}`), { data: { keepContent: false, bodyStored: false } })
  const answer = await fetch(`${url}/v2/messages/${id}/body`, { headers: { api_key: ada.apiKey } })
  t.equal(answer.status, 410)
})
