import t from 'tap'
import { countAll, happen } from '../core/reporting/statistics/happen.ts'
import { acceptMessage } from '../core/submission.ts'
import { answer, startReceiver } from '../helpers/receiver.ts'
import { openDashboard, type TestVisitor } from './dashboard.ts'
import { member } from './members.ts'

const HOSTILE = '<script>alert(1)</script> & \u202eevil'

t.test('webhooks', async (t) => {
  const dashboard = await openDashboard(t, { WEBHOOK_PRIVATE_NETWORKS: 'allow' })
  const { service } = dashboard
  const { core } = service
  const sender = await service.makeSender()
  const { accountId } = sender
  const ada = await member(dashboard, sender, 'developer')
  const receiver = await startReceiver(t)
  const at = `/app/${accountId}/webhooks`
  const textOf = async (path: string, visitor: TestVisitor = ada) => (await visitor.get(path)).text()
  const form = { url: receiver.url, format: 'v2', events: 'sent', headers: 'X-Env: test\nX-Token: hush', enabled: 'on' }

  /** One event, sent to the webhooks that are due. */
  async function tellOne(): Promise<void> {
    const { messageId } = await acceptMessage(service, sender)
    await happen(service, accountId, { type: 'sent', messageId })
    await countAll(service)
    await core.webhooks.notice()
    const claimed = (await core.webhooks.claim(10)) ?? []
    for (const batch of claimed) await core.webhooks.deliver(batch, new AbortController().signal)
  }

  await t.test('the empty list teaches what a webhook is', async (t) => {
    t.match(await textOf(at), 'No webhooks yet')
  })

  await t.test('a webhook is added with a form, and its secret is shown by that page alone', async (t) => {
    const added = await ada.post(at, { ...form, label: HOSTILE })
    t.equal(added.status, 200)
    const text = await added.text()
    t.match(text, /id="secret">whsec_/)
    const [webhook] = await core.webhooks.list(accountId)
    t.match(webhook, { url: receiver.url, events: ['sent'], headers: { 'X-Env': 'test', 'X-Token': 'hush' } })
    const page = await textOf(`${at}/${webhook?.id}`)
    t.notMatch(page, 'whsec_')
    t.match(page, '&lt;script&gt;alert(1)&lt;/script&gt; &amp;')
    t.match(page, 'X-Token: ***')
    t.match(page, 'X-Env: test')
    t.match(await textOf(at), '&lt;script&gt;alert(1)&lt;/script&gt;')
  })

  await t.test('a URL that does not respond is refused, and the form keeps what was entered', async (t) => {
    receiver.react = answer(500)
    const refused = await ada.post(at, { ...form, label: 'second' })
    t.equal(refused.status, 400)
    const text = await refused.text()
    t.match(text, 'URL check failed: received status 500')
    t.match(text, 'value="second"')
    t.match(text, 'X-Token: hush', 'also a header field that other pages hide')
    t.equal((await ada.post(at, { ...form, url: 'gopher://x' })).status, 400)
    t.equal((await core.webhooks.list(accountId)).length, 1)
    receiver.react = answer(200)
  })

  const id = (await core.webhooks.list(accountId))[0]?.id as number
  const page = `${at}/${id}`

  await t.test('the page has the latest requests, and how far behind the webhook is', async (t) => {
    await tellOne()
    receiver.react = answer(503)
    await tellOne()
    const text = await textOf(page)
    t.match(text, /s-delivered.*<span>200<\/span>/s)
    t.match(text, '<span>503</span>')
    t.match(text, '1 of the latest 2 requests')
    t.match(text, 'The URL is failing')
    t.match(text, 'received status 503')
    const failed = await textOf(`${page}?show=failed`)
    t.match(failed, '<span>503</span>')
    t.notMatch(failed, '<span>200</span>')
    receiver.react = answer(200)
  })

  await t.test('a request opens with both sides and the next try, and is tried now or sent again', async (t) => {
    const links = [...(await textOf(page)).matchAll(/href="([^"]+\/requests\/\d+)"/g)].map(([, link]) => link as string)
    t.equal(links.length, 2)
    const [failed, good] = links as [string, string]
    const text = await textOf(failed)
    for (const part of [
      'Response: 503',
      'X-Env',
      'X-Token',
      '***',
      'webhook-signature',
      '&quot;EVENT&quot;:&quot;sent&quot;',
      'Next try:',
      'Try now',
    ])
      t.match(text, part)
    t.notMatch(text, 'hush')
    t.match(await textOf(good), /Your server has these events.*Send again/s)
    t.match((await ada.post(`${failed}/resend`)).headers.get('location'), `${page}?said=replayed`)
    const [batch] = (await core.webhooks.claim(10)) ?? []
    t.ok(batch, 'it is due')
    if (batch) await core.webhooks.deliver(batch, new AbortController().signal)
    t.match(await textOf(page), '2 of the latest 3 requests')
    t.match(await textOf(failed), 'Your server has these events')
    for (const strange of ['0', 'x', '99999999999999999', '1'])
      t.equal((await ada.get(`${page}/requests/${strange}`)).status, 404, strange)
    const support = await member(dashboard, sender, 'support')
    const other = await member(dashboard, await service.makeSender())
    t.equal((await support.get(failed)).status, 403)
    t.equal((await other.get(failed.replace(`/${accountId}/`, `/${other.accountId}/`))).status, 404)
  })

  await t.test('events behind are those that it is still to get, and no others', async (t) => {
    const { messageId } = await acceptMessage(service, sender)
    const behind = async () => /Events behind<\/span><span class="v">([^<]*)</.exec(await textOf(page))?.[1]
    t.equal(await behind(), '0', 'the message was accepted, which it is not told of')
    for (let n = 0; n < 3; n++) await happen(service, accountId, { type: n < 2 ? 'sent' : 'opened', messageId })
    await countAll(service)
    t.equal(await behind(), '2')
    await core.webhooks.notice()
    const claimed = (await core.webhooks.claim(10)) ?? []
    t.equal(await behind(), '2', 'while they are being sent')
    for (const batch of claimed) await core.webhooks.deliver(batch, new AbortController().signal)
    t.equal(await behind(), '0')
  })

  await t.test('a webhook that was disabled says why, as it was', async (t) => {
    receiver.react = answer(410)
    await tellOne()
    const text = await textOf(page)
    t.match(text, /The webhook was disabled.*Your server responded 410 Gone/s)
    t.notMatch(text, 'three days')
    receiver.react = answer(200)
    await ada.post(`${page}/resume`)
    await tellOne()
    await service.sql`update webhooks set enabled = false, disabled_at = now(), disabled_reason = 'failing' where id = ${id}`
    t.match(await textOf(page), 'No request succeeded for more than three days')
    await ada.post(`${page}/resume`)
  })

  await t.test('a test shows what the receiver said, to the letter', async (t) => {
    receiver.react = (_request, response) => response.writeHead(418).end(HOSTILE)
    const text = await (await ada.post(`${page}/test`)).text()
    t.match(text, 'Your server responded 418')
    t.match(text, '<pre class="any"><bdi>&lt;script&gt;alert(1)&lt;/script&gt; &amp; evil</bdi>')
    t.notMatch(text, '<script>alert')
    receiver.react = answer(200)
    await ada.post(`${page}/test`, { event: 'bounced' })
    t.match(receiver.batches().at(-1)?.body, /"EVENT":"bounced"/)
    t.notMatch(receiver.batches().at(-1)?.body, /"EVENT":"sent"/, 'of one kind')
    t.equal((await ada.post(`${page}/test`, { event: 'vanished' })).status, 400)
  })

  await t.test('it is limited to domains and tags, one per line, and the form shows them', async (t) => {
    const [{ id = 0 } = {}] = await core.webhooks.list(accountId)
    const limits = { domains: 'Ship.example\n\nquay.example\n', tags: 'berth, 4\n' }
    await ada.post(`${at}/${id}`, { ...form, ...limits })
    const limited = await core.webhooks.show(accountId, id)
    t.strictSame([limited.domains, limited.tags], [['ship.example', 'quay.example'], ['berth, 4']])
    t.match(await textOf(`${at}/${id}/edit`), /ship\.example\nquay\.example/)
    await ada.post(`${at}/${id}`, { ...form, domains: '', tags: ' ' })
    t.match(await core.webhooks.show(accountId, id), { domains: null, tags: null })
  })

  await t.test('it is edited, and headers that are shown as *** keep their values', async (t) => {
    const edit = await textOf(`${page}/edit`)
    t.match(edit, 'X-Token: ***')
    const events = 'bounced'
    const saved = await ada.post(page, { ...form, events, headers: 'X-Token: ***', label: 'ship', eventIds: 'on' })
    t.match(saved.headers.get('location'), `${page}?said=saved`)
    const expected = { label: 'ship', events: ['bounced'], headers: { 'X-Token': 'hush' }, eventIds: true }
    t.match(await core.webhooks.show(accountId, id), { ...expected, enabled: true })
    receiver.react = answer(404)
    t.equal((await ada.post(page, { ...form, url: `${receiver.url}/other` })).status, 400)
    t.equal((await core.webhooks.show(accountId, id)).url, receiver.url)
    receiver.react = answer(200)
  })

  await t.test('it is paused and resumed, and resumed only if the URL responds', async (t) => {
    t.match((await ada.post(`${page}/pause`)).headers.get('location'), 'said=paused')
    t.equal((await core.webhooks.show(accountId, id)).enabled, false)
    t.match(await textOf(page), 'paused')
    receiver.react = answer(500)
    t.match(await (await ada.post(`${page}/resume`)).text(), 'URL check failed')
    t.equal((await core.webhooks.show(accountId, id)).enabled, false)
    receiver.react = answer(200)
    t.match((await ada.post(`${page}/resume`)).headers.get('location'), 'said=resumed')
    t.equal((await core.webhooks.show(accountId, id)).enabled, true)
  })

  await t.test('events are sent again from one on, and a number without an event is refused in words', async (t) => {
    t.match((await ada.post(`${page}/replay`, { from: '1' })).headers.get('location'), 'said=replayed')
    t.equal((await core.webhooks.show(accountId, id)).position, 0)
    for (const from of ['0', '-1', '1.5', 'x', '', '99999', '9007199254740993']) {
      const refused = await ada.post(`${page}/replay`, { from })
      t.equal(refused.status, 400, from)
      t.match(await refused.text(), 'role="alert"', from)
    }
  })

  await t.test('batches that were given up are listed with the reason, and sent again', async (t) => {
    await service.sql`delete from webhook_batches where webhook_id = ${id}`
    await service.sql`
      insert into webhook_batches (id, webhook_id, account_id, after_number, to_number, types, state, attempts, failed_since, failed_at, problem)
      select gen_random_uuid(), ${id}, ${accountId}, n, n + 1, array['sent'], 'dead', 62, now(), now(), ${HOSTILE}
        from generate_series(0, 1) n`
    const text = await textOf(page)
    t.match(text, '2 batches were given up')
    t.match(text, '&lt;script&gt;alert(1)&lt;/script&gt; &amp; <span class="ctl">U+202E</span>evil')
    const batch = /name="batch" value="([^"]+)"/.exec(text)?.[1] as string
    t.equal((await ada.post(`${page}/redeliver`, { batch: 'none' })).status, 400)
    t.match((await ada.post(`${page}/redeliver`, { batch })).headers.get('location'), 'said=replayed')
    t.equal((await core.webhooks.dead(accountId, id, { limit: 9, offset: 0 })).total, 1)
    await ada.post(`${page}/redeliver`)
    t.equal((await core.webhooks.dead(accountId, id, { limit: 9, offset: 0 })).total, 0)
  })

  await t.test('a new secret is shown once, and other roles and accounts reach none of it', async (t) => {
    t.match(await (await ada.post(`${page}/rotate`)).text(), /id="secret">whsec_/)
    const support = await member(dashboard, sender, 'support')
    const other = await member(dashboard, await service.makeSender())
    const foreign = page.replace(`/${accountId}/`, `/${other.accountId}/`)
    for (const action of ['', '/edit']) {
      t.equal((await support.get(`${page}${action}`)).status, 403, action)
      t.equal((await other.get(`${page}${action}`)).status, 404, action)
      t.equal((await other.get(`${foreign}${action}`)).status, 404, action)
    }
    for (const action of ['', '/test', '/pause', '/resume', '/rotate', '/replay', '/redeliver', '/remove']) {
      t.equal((await support.post(`${page}${action}`)).status, 403, action)
      t.equal((await other.post(`${foreign}${action}`)).status, 404, action)
    }
    for (const strange of ['0', '-1', 'x', '2147483648', '1e3', '%00'])
      t.equal((await ada.get(`${at}/${strange}`)).status, 404, strange)
  })

  await t.test('it is deleted', async (t) => {
    t.match((await ada.post(`${page}/remove`)).headers.get('location'), `${at}?said=removed`)
    t.strictSame(await core.webhooks.list(accountId), [])
    t.equal((await ada.get(page)).status, 404)
  })
})
