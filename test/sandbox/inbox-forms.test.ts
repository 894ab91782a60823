import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createSecrets, makeTrackingToken, type TrackingTarget } from '@postrider/core'
import t from 'tap'
import { type Entry, mail, type Sandbox, startSandbox } from './sandbox.ts'

const SECRET = 'a secret key of the service and the inbox'
const HERE = { 'sec-fetch-site': 'same-origin' }

const hits: string[] = []
/** Stands for the service at PUBLIC_URL, and for the hosts that links lead to. */
const web = createServer((request, response) => {
  let body = ''
  request.on('data', (piece: Buffer) => (body += piece.toString()))
  request.on('end', () => {
    hits.push(`${request.method} ${request.url} ${body}`.trim())
    const path = request.url ?? ''
    if (path === '/moved') response.writeHead(302, { location: '/fine' })
    else response.statusCode = path === '/gone' ? 404 : path === '/no-head' && request.method === 'HEAD' ? 405 : 200
    response.end()
  })
})
await new Promise<void>((resolve) => web.listen(0, '127.0.0.1', resolve))
t.teardown(() => web.close())
const site = `http://127.0.0.1:${(web.address() as AddressInfo).port}`

const ALLOWED = {
  SECRET_KEY: SECRET,
  PUBLIC_URL: `${site}/mail`,
  SANDBOX_REQUESTS: 'allow',
  WEBHOOK_PRIVATE_NETWORKS: 'allow',
}
const sandbox = await startSandbox(t, undefined, ALLOWED)

const read = async (path: string, at: Sandbox = sandbox) => (await fetch(`${at.url}${path}`)).text()
async function post(path: string, fields: Record<string, string> = {}, at: Sandbox = sandbox): Promise<string> {
  const body = new URLSearchParams(fields)
  const answer = await fetch(`${at.url}${path}`, { method: 'POST', headers: HERE, body, redirect: 'manual' })
  t.equal(answer.status, 303, path)
  return answer.headers.get('location') ?? ''
}
const token = (kind: TrackingTarget['kind'], url = '') =>
  makeTrackingToken(createSecrets(SECRET), {
    kind,
    accountId: 1,
    messageId: '00'.repeat(16),
    recipientNo: 1,
    group: 0,
    link: 0,
    url,
  })
const htmlMail = (html: string, fields = '') => mail(`Subject: Links\r\n${fields}Content-Type: text/html`, html)

t.test('links are shown with their text, the target behind a tracked one, and what answers there', async (t) => {
  const { id } = await sandbox.store(
    t,
    htmlMail(
      `<a href="https://click.ship.example/c/${token('click', `${site}/gone`)}">Track <b>your</b> order</a> <a href="${site}/moved">Moved</a>` +
        `<a href="${site}/no-head"><img alt="Picture" src="x"></a><a href="mailto:a@b.example">Write</a><a href="${site}/c/${'A'.repeat(60)}">Forged</a>`,
    ),
  )
  hits.length = 0
  const before = await read(`/view/${id}?part=links`)
  t.match(before, /Track your order.*<code class="any"><bdi>http:\/\/127\.0\.0\.1:\d+\/gone<\/bdi>/s)
  t.match(before, 'tracked')
  t.notMatch(before, 'click.ship.example')
  t.match(before, 'Picture')
  t.strictSame(hits, [], 'nothing is requested by showing them')
  t.equal(await post(`/view/${id}/links`), `/view/${id}?part=links`)
  const after = await read(`/view/${id}?part=links`)
  t.match(after, /gone.*404 Not Found/s)
  t.match(after, '302 Found')
  t.match(after, /no-head.*200 OK/s)
  t.ok(hits.includes('HEAD /gone') && hits.includes('GET /no-head'))
  t.notOk(
    hits.some((hit) => hit.includes('/fine')),
    'a redirect is shown, not followed',
  )
  t.match(await read(`/view/${id}?part=checks`), '4 by http')
  const checked = (await (await fetch(`${sandbox.url}/api/v1/message/${id}/link-check?follow=true`)).json()) as {
    Errors: number
    Links: { URL: string; StatusCode: number }[]
  }
  t.equal(checked.Errors, 1)
  t.match(
    checked.Links.find(({ URL }) => URL.endsWith('/moved')),
    { StatusCode: 200 },
  )
})

t.test('unsubscribing by one click is tried, at the service itself without a setting', async (t) => {
  const closed = await startSandbox(t, undefined, { SECRET_KEY: SECRET, PUBLIC_URL: `${site}/mail` })
  const field = (url: string) => `List-Unsubscribe: <${url}>\r\nList-Unsubscribe-Post: List-Unsubscribe=One-Click\r\n`
  const own = token('unsubscribe')
  const ours = await closed.store(t, htmlMail('<p>a</p>', field(`https://click.ship.example/u/${own}`)))
  const theirs = await closed.store(t, htmlMail('<p>a</p>', field(`${site}/leave`)))
  const click = await closed.store(t, htmlMail('<p>a</p>', field(`${site}/u/${token('click', site)}`)))
  hits.length = 0
  t.equal(await post(`/view/${ours.id}/unsubscribe`, {}, closed), `/view/${ours.id}?part=checks`)
  t.strictSame(hits, [`POST /mail/u/${own} List-Unsubscribe=One-Click`])
  t.match(await read(`/view/${ours.id}?part=checks`, closed), /role="status".*Unsubscribed: <bdi>200/s)
  t.notMatch(await read(`/view/${ours.id}?part=checks`, closed), 'role="status"', 'it is said once')
  for (const { id } of [theirs, click]) {
    await post(`/view/${id}/unsubscribe`, {}, closed)
    t.match(await read(`/view/${id}?part=checks`, closed), 'SANDBOX_REQUESTS=allow')
    await post(`/view/${id}/links`, {}, closed)
    t.match(await read(`/view/${id}?part=links`, closed), 'SANDBOX_REQUESTS=allow')
  }
  t.equal(hits.length, 1)
  // Only the token is taken from the address, whatever else it has.
  for (const url of [
    `https://a.example/u/${own}/../../u/other`,
    `https://a b/u/${own}`,
    `http://a.example/u/${own}\\..\\..`,
  ]) {
    const { id } = await closed.store(t, htmlMail('<p>a</p>', field(url)))
    t.equal(await post(`/view/${id}/unsubscribe`, {}, closed), `/view/${id}?part=checks`)
    t.match(hits.pop(), `POST /mail/u/${own}`)
  }
  const open = await sandbox.store(t, htmlMail('<p>a</p>', field(`${site}/leave`)))
  await post(`/view/${open.id}/unsubscribe`)
  t.match(hits.at(-1), 'POST /leave List-Unsubscribe=One-Click')
  const asked = await fetch(`${sandbox.url}/api/v1/message/${open.id}/unsubscribe`, { method: 'POST' })
  t.match(await asked.json(), { StatusCode: 200, Status: 'OK' })
  t.equal(hits.filter((hit) => hit.startsWith('POST /leave')).length, 2)
})

t.test('links to private hosts are not requested unless the operator allows these, too', async (t) => {
  const guarded = await startSandbox(t, undefined, { SANDBOX_REQUESTS: 'allow', WEBHOOK_PRIVATE_NETWORKS: 'refuse' })
  const { id } = await guarded.store(t, htmlMail(`<a href="${site.replace(/:\d+$/, '')}/secret">a</a>`))
  hits.length = 0
  await post(`/view/${id}/links`, {}, guarded)
  t.match(await read(`/view/${id}?part=links`, guarded), 'private or otherwise blocked address')
  t.strictSame(hits, [])
})

t.test('a message is released as it is, only to whom the operator allows', async (t) => {
  const relay = await startSandbox(t)
  const settings = {
    SANDBOX_RELAY_URL: `smtp://127.0.0.1:${relay.smtpPort}`,
    SANDBOX_RELAY_TO: 'me@team.example, @qa.example',
  }
  const releasing = await startSandbox(t, undefined, settings)
  const { id } = await releasing.store(t, mail('Subject: Real\r\nX-Kept: 1'))
  t.match(await read(`/view/${id}`, releasing), 'me@team.example, @qa.example')
  for (const to of [
    'you@team.example',
    'me@team.example.evil.example',
    'x@sub.qa.example',
    'a b@qa.example',
    '',
    'me@team.example>\r\nDATA',
  ]) {
    const answer = await fetch(`${releasing.url}/api/v1/message/${id}/release`, {
      method: 'POST',
      body: JSON.stringify({ To: [to] }),
    })
    t.ok([400, 403].includes(answer.status), `${to}: ${answer.status}`)
    t.match(await answer.text(), /^To: /)
  }
  t.strictSame(await relay.list(), [])
  await post(`/view/${id}/release`, { to: 'me@team.example, any@QA.example' }, releasing)
  t.match(await read(`/view/${id}`, releasing), /Released to <bdi>me@team\.example, any@QA\.example/)
  const [first, second] = await relay.list()
  t.match(first, { from: 'desk@ship.example', to: 'me@team.example', subject: 'Real' })
  t.equal(second?.to, 'any@qa.example')
  const raw = (at: Sandbox, one: string) => read(`/messages/${one}/raw`, at)
  t.equal(await raw(relay, first?.id ?? ''), await raw(releasing, id))
  const body = JSON.stringify({ To: Array.from({ length: 10 }, (_none, at) => `a${at}@qa.example`) })
  const statuses: number[] = []
  for (let time = 0; time < 10; time++)
    statuses.push((await fetch(`${releasing.url}/api/v1/message/latest/release`, { method: 'POST', body })).status)
  t.strictSame([statuses.slice(0, 9), statuses[9]], [Array(9).fill(200), 503], 'at most 100 recipients in an hour')
})

t.test('what a search found is deleted or marked as read, and nothing else', async (t) => {
  const own = await startSandbox(t)
  const entries: Entry[] = []
  for (const subject of ['Keep', 'Drop 1', 'Drop 2']) entries.push(await own.store(t, mail(`Subject: ${subject}`)))
  const list = await read('/?q=subject%3Adrop', own)
  t.match(list, 'action="/delete-all?q=subject%3Adrop"')
  t.match(list, 'Delete the 2 messages that were found?')
  await post('/read-all?q=drop+1', {}, own)
  const unread = await read('/?q=is%3Aunread', own)
  t.ok(unread.includes(entries[0]?.id ?? '') && !unread.includes(entries[1]?.id ?? ''))
  await post(`/view/${entries[1]?.id}/unread`, {}, own)
  t.match(await read('/?q=is%3Aunread+drop', own), 'Drop 1')
  await post(`/view/${entries[0]?.id}/tags`, { tags: 'blue, <b>' }, own)
  t.match(await read('/?q=tag%3Ablue', own), 'Keep')
  await post('/delete-all?q=subject%3Adrop', {}, own)
  t.strictSame(
    (await own.list()).map(({ subject }) => subject),
    ['Keep'],
  )
  const wrong = await fetch(`${own.url}/delete-all?q=before%3Asoon`, { method: 'POST', headers: HERE })
  t.equal(wrong.status, 400)
  t.equal((await own.list()).length, 1)
})
