import { simpleParser } from 'mailparser'
import t, { type Test } from 'tap'
import { numberEvents } from '../../helpers/number-events.ts'
import { startReceiver } from '../../helpers/receiver.ts'
import { v2Body } from '../../helpers/send.ts'
import { makeService } from '../../helpers/service.ts'
import { startSink } from '../../helpers/sink.ts'
import { until } from '../../helpers/until.ts'
import { openWorker } from '../../helpers/worker.ts'
import { sayAndWait } from '../raw.ts'
import { mailBody } from '../v3/mail.ts'
import { crawl } from './crawl.ts'
import { KINDS, PATH, type ProxyKind, startSubPathProxy } from './proxy.ts'

const LOCAL = { WEBHOOK_PRIVATE_NETWORKS: 'allow' }
const TARGET = 'https://quay.example/berth'

/** A service behind a proxy, whose mail arrives at a sink. */
async function openBehind(t: Test, kind: ProxyKind) {
  const proxy = await startSubPathProxy(t, kind)
  const sink = await startSink(t)
  const service = await makeService(t, { ...proxy.settings, ...LOCAL, DELIVERY: `smtp://127.0.0.1:${sink.port}` })
  proxy.leadTo(service)
  await service.openApi()
  await openWorker(t, service)
  const sender = await service.makeSender({ tracking: true })
  const headers = { api_key: sender.apiKey, authorization: `Bearer ${sender.apiKey}` }
  return {
    proxy,
    service,
    sender,
    async call(path: string, body?: unknown, method = body === undefined ? 'GET' : 'POST') {
      const json = body === undefined ? {} : { body: JSON.stringify(body) }
      const type = { 'content-type': 'application/json' }
      const response = await fetch(`${proxy.publicUrl}${path}`, { method, headers: { ...headers, ...type }, ...json })
      const text = await response.text()
      return { status: response.status, headers: response.headers, json: text === '' ? undefined : JSON.parse(text) }
    },
    /** The mail with this subject: its HTML and its header. */
    async arrived(subject: string) {
      const { data } = await until(subject, () => sink.messages.find(({ data }) => data.includes(subject)))
      return { html: String((await simpleParser(data)).html), head: data.toString().split('\r\n\r\n', 1)[0] as string }
    },
  }
}

const linkIn = (text: string, kind: string): string => {
  const link = new RegExp(`https?://[^"<>\\s]+/t/${kind}/[\\w-]+`).exec(text)?.[0]
  if (link === undefined) throw new Error(`no link to /t/${kind}/ in ${text}`)
  return link
}

for (const kind of KINDS) {
  t.test(`behind a proxy that ${kind} the path, the links of mail by v2 and v3 lead below it`, async (t) => {
    const { proxy, service, sender, call, arrived } = await openBehind(t, kind)
    const group = await service.core.groups.create(sender.accountId, {
      name: 'News',
      description: '',
      isDefault: false,
    })
    const html = `<p><a href="${TARGET}">Berth</a></p>`
    const tags = ['asm_preferences_raw_url', 'asm_group_unsubscribe_raw_url'].map((tag) => `<a href="<%${tag}%>">x</a>`)
    const content = [{ type: 'text/html', value: `${html}${tags.join('')}` }]
    const v2 = v2Body(sender, { subject: 'By v2', content: html, settings: { unsubscribe: 1 } })
    t.equal((await call('/v2/sendEmail', v2)).status, 200)
    const v3 = mailBody(sender, {
      personalizations: [{ to: [{ email: 'tom@harbor.example' }] }],
      subject: 'By v3',
      content,
      asm: { group_id: group.id },
    })
    t.equal((await call('/v3/mail/send', v3)).status, 202)
    for (const subject of ['By v2', 'By v3']) {
      const mail = await arrived(subject)
      const links = ['o', 'c', 'u'].map((letter) => linkIn(mail.html, letter))
      for (const link of links) t.ok(link.startsWith(`${proxy.publicUrl}/t/`), `${subject}: ${link}`)
      const [pixel = '', click = '', leave = ''] = links
      t.equal((await fetch(pixel)).headers.get('content-type'), 'image/gif')
      const followed = await fetch(click, { redirect: 'manual' })
      t.strictSame(
        [followed.status, followed.headers.get('location')],
        [302, TARGET],
        'a target of others is as it was',
      )
      // As a mail program leaves it.
      t.equal((await fetch(`${click}%E0%A4`, { redirect: 'manual' })).status, 302)
      const start = leave.slice(proxy.origin.length)
      const { answers, faults } = await crawl(proxy, { start, within: `${PATH}/t/` })
      t.strictSame(faults, [])
      t.ok(
        [...answers.values()].every(([status, type]) => status === 200 && type === 'text/html'),
        JSON.stringify([...answers]),
      )
      t.ok(answers.size > 10, 'the page in each language')
      const oneClick = linkIn(mail.head.replace(/\r\n\s/g, ''), 'u')
      t.ok(oneClick.startsWith(`${proxy.publicUrl}/t/u/`))
      const body = new URLSearchParams({ 'List-Unsubscribe': 'One-Click' })
      t.equal((await fetch(oneClick, { method: 'POST', body })).status, 200)
    }
    const preferences = linkIn((await arrived('By v3')).html, 'p')
    t.match(await (await fetch(preferences)).text(), 'News')
    await numberEvents(service)
    const events: { type: string }[] = (await call('/v2/events/feed?after=0')).json.data
    t.equal(events.filter(({ type }) => type === 'unsubscribed').length, 2)
    t.strictSame(proxy.strays, [])
  })

  t.test(`behind a proxy that ${kind} the path, the links in answers of the APIs lead below it`, async (t) => {
    const { proxy, service, sender, call } = await openBehind(t, kind)
    const { core } = service
    const { accountId } = sender
    const emails = ['a@harbor.example', 'b@harbor.example', 'c@harbor.example']
    await core.suppressions.addAll({ accountId, emails, reason: 'hardbounce' })
    const first = await call('/v3/suppression/bounces?limit=1')
    const next = /<([^>]+)>; rel="next"/.exec(first.headers.get('link') ?? '')?.[1] as string
    t.ok(next.startsWith(`${proxy.publicUrl}/v3/suppression/bounces?`), next)
    t.equal((await call(next.slice(proxy.publicUrl.length))).json.length, 1)
    const by = { keyId: null, address: null }
    for (const name of ['one', 'two'])
      await core.editableTemplates.create({ accountId, name, generation: 'dynamic', by })
    const list = await call('/v3/templates?generations=dynamic&page_size=1')
    const { next: more } = list.json._metadata
    t.ok(more.startsWith(`${proxy.publicUrl}/v3/templates?`), more)
    t.equal((await call(more.slice(proxy.publicUrl.length))).json.result.length, 1)
    const refused = await call('/v3/mail/send', { subject: 1 })
    const help: string = refused.json.errors.find((error: { help: unknown }) => error.help).help
    t.ok(help.startsWith(`${proxy.publicUrl}/docs/v3/errors.html#`), help)
    t.equal((await fetch(help)).status, 200)
    const callback = await startReceiver(t)
    await call('/v2/stats/export', { startdate: '2026-01-01', callbackUrl: callback.url })
    const told = await until('the callback', () => callback.batches()[0])
    const file = new RegExp(`${proxy.publicUrl}/exports/[\\w-]+`).exec(told.body)?.[0] as string
    t.equal((await fetch(file)).status, 200, 'the file of an export, whose link the callback gets')
    const document = (await call('/openapi.json')).json
    t.strictSame(document.servers, [{ url: proxy.publicUrl }])
    t.equal((await fetch(`${document.servers[0].url}/v2/account`, { headers: { api_key: sender.apiKey } })).status, 200)
    t.strictSame(proxy.strays, [])
  })

  t.test(
    `behind a proxy that ${kind} the path, unknown calls are refused in their own form, and health is told`,
    async (t) => {
      const { proxy, service, call } = await openBehind(t, kind)
      for (const path of ['/health', '/health/live', '/health/ready']) t.equal((await call(path)).status, 200, path)
      t.match(await call('/v2/nothing'), { status: 404, json: { error_info: { error_code: Number } } })
      t.match(await call('/v2/sendEmail', undefined, 'DELETE'), { status: 405 })
      t.match(await call('/v3/nothing'), { status: 404, json: { errors: [{ message: String }] } })
      t.match(await call('/v3/%E0%A4%A'), { status: 404, json: { errors: [{ message: String }] } })
      t.match(await (await fetch(`${proxy.publicUrl}/app/%E0%A4%A`)).text(), `href="${PATH}/app"`)
      const { secret } = await service.core.auth.createOperatorKey({ name: 'night shift' })
      const headers = { authorization: `Bearer ${secret}` }
      t.equal((await fetch(`${proxy.publicUrl}/operator/v1/queues`, { headers })).status, 200)
    },
  )
}

t.test('links at the own tracking host of a domain have no path, and are answered', async (t) => {
  const { proxy, service, sender, call, arrived } = await openBehind(t, 'leaves')
  const records = service.sql.json({ [`CNAME go.${sender.domain}`]: { state: 'right' } })
  await service.sql`update domains set envelope_name = 'go', records = ${records} where name = ${sender.domain}`
  const content = `<a href="${TARGET}">Berth</a>`
  t.equal((await call('/v2/sendEmail', v2Body(sender, { subject: 'By own host', content }))).status, 200)
  const link = new URL(linkIn((await arrived('By own host')).html, 'c'))
  t.equal(link.origin, `http://go.${sender.domain}:${new URL(proxy.origin).port}`)
  t.ok(link.pathname.startsWith('/t/c/'), link.pathname)
  const base = `http://127.0.0.1:${service.config.apiPort}`
  t.equal((await fetch(`${base}${link.pathname}`, { redirect: 'manual' })).headers.get('location'), TARGET)
})

t.test('a request that is not HTTP is refused in the form of v3 below the path, too', async (t) => {
  const { service } = await openBehind(t, 'leaves')
  for (const path of ['/v3/mail/send', `${PATH}/v3/mail/send`]) {
    const base = `http://127.0.0.1:${service.config.apiPort}`
    const { text } = await sayAndWait(t, base, `POST ${path} HTTP/1.1\r\nHost: a\r\nContent-Length: -5\r\n\r\n`)
    t.match(text, '{"errors":[', path)
  }
})

t.test('the API is reached without the path, too, and takes it off once', async (t) => {
  const { service, sender } = await openBehind(t, 'leaves')
  const base = `http://127.0.0.1:${service.config.apiPort}`
  const ask = async (path: string) => (await fetch(`${base}${path}`, { headers: { api_key: sender.apiKey } })).status
  t.equal(await ask('/health/ready'), 200)
  t.equal(await ask('/v2/account'), 200)
  t.equal(await ask(`${PATH}/v2/account`), 200)
  t.equal(await ask(`${PATH}${PATH}/v2/account`), 404)
  t.equal(await ask(`${PATH}er/v2/account`), 404)
})
