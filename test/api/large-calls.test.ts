import { gzipSync } from 'node:zlib'
import t from 'tap'
import { holding, untilBlocked } from '../helpers/blocked.ts'
import { startProcess } from '../helpers/processes.ts'
import { v2Body } from '../helpers/send.ts'
import { makeService } from '../helpers/service.ts'
import { limitHere } from '../helpers/turns.ts'
import { until } from '../helpers/until.ts'
import { asForm, call, FORM, JSON_TYPE, messageIdOf, refused } from './call.ts'

/** Calls that are costly to read, evaluate or store, and what they cost everybody else: processor time of the main loop. */
const service = await makeService(t)
const base = await service.openApi()
const sender = await service.makeSender()
const V2 = { api_key: sender.apiKey }
const V3 = { authorization: `Bearer ${sender.apiKey}`, ...JSON_TYPE }
const MULTIPART = { 'content-type': 'multipart/form-data; boundary=B' }
const many = <T>(count: number, one: (at: number) => T): T[] => Array.from({ length: count }, (_, at) => one(at))
const v2 = (extra: Record<string, unknown>) => JSON.stringify(v2Body(sender, extra))
const v3 = (extra: Record<string, unknown>) =>
  JSON.stringify({
    from: { email: `a@${sender.domain}` },
    subject: 's',
    content: [{ type: 'text/plain', value: 'x' }],
    personalizations: [{ to: [{ email: 'a@b.example' }] }],
    ...extra,
  })
const part = (head: string) => `--B\r\nContent-Disposition: form-data; name="a"${head}\r\n\r\nv\r\n`

/** Milliseconds of computing between two turns of the loop, at most, while `act` runs. */
async function longestStop(act: () => Promise<unknown>): Promise<number> {
  let longest = 0
  let before = process.threadCpuUsage()
  const look = () => {
    const now = process.threadCpuUsage()
    longest = Math.max(longest, (now.user + now.system - before.user - before.system) / 1000)
    before = now
  }
  const timer = setInterval(look, 1)
  await act()
  look()
  clearInterval(timer)
  return longest
}

// Milliseconds it stopped the loop before there was a thread.
const COSTLY: readonly (readonly [
  what: string,
  before: number,
  status: number,
  call: () => Parameters<typeof call>[1],
])[] = [
  [
    'content of a million merge tags',
    1200,
    200,
    () => ({ headers: V2, body: v2({ content: many(1e6, (at) => `[%${at % 1e5}%]`).join('') }) }),
  ],
  [
    '300,000 attributes',
    1200,
    200,
    () => ({
      headers: V2,
      body: v2({
        personalizations: [
          { recipient: 'a@b.example', attributes: Object.fromEntries(many(300_000, (at) => [`k${at}`, 1])) },
        ],
      }),
    }),
  ],
  ['14 million commas of tags', 2500, 400, () => ({ headers: V2, body: v2({ tags: 'a,'.repeat(14e6) }) })],
  [
    '14 million commas of copies',
    1100,
    400,
    () => ({
      headers: V2,
      body: v2({ personalizations: [{ recipient: 'a@b.example', recipient_cc: 'a,'.repeat(14e6) }] }),
    }),
  ],
  [
    '10,000 blind copies for each of 10,000',
    3300,
    400,
    () => ({
      headers: V2,
      body: v2({
        settings: { bcc: 'x,'.repeat(10_000) },
        personalizations: many(10_000, (at) => ({ recipient: `a${at}@b.example` })),
      }),
    }),
  ],
  [
    'a file with a blank behind each of its digits',
    1000,
    200,
    () => ({ headers: V2, body: v2({ attachments: [{ fileName: 'a', fileContent: 'A '.repeat(12e6) }] }) }),
  ],
  [
    'a form of 190,000 structures',
    1000,
    413,
    () => ({ headers: { ...V2, ...FORM }, body: many(190_000, (at) => `a[b${at}][c][d][e][f][g][h]=1`).join('&') }),
  ],
  [
    'a form of 29 million percent signs',
    2400,
    400,
    () => ({ headers: { ...V2, ...FORM }, body: `a=${'%'.repeat(29e6)}` }),
  ],
  [
    'a form whose name is 29 million brackets',
    300,
    400,
    () => ({ headers: { ...V2, ...FORM }, body: `a${'[]'.repeat(14e6)}=1` }),
  ],
  [
    '1,750 heads of 16 kB',
    1000,
    400,
    () => ({ headers: { ...V2, ...MULTIPART }, body: `${part('; a="'.repeat(3200)).repeat(1750)}--B--\r\n` }),
  ],
  [
    '190,000 parts',
    800,
    400,
    () => ({ headers: { ...V2, ...MULTIPART }, body: `${part('').repeat(190_000)}--B--\r\n` }),
  ],
  [
    '300,000 headers',
    1500,
    400,
    () => ({
      path: '/v3/mail/send',
      headers: V3,
      body: v3({ headers: Object.fromEntries(many(300_000, (at) => [`X-${at}`, 'v'])) }),
    }),
  ],
  [
    '30,000 headers for each of 1000, zipped',
    5000,
    400,
    () => ({
      path: '/v3/mail/send',
      headers: { ...V3, 'content-encoding': 'gzip' },
      body: gzipSync(
        v3({
          headers: Object.fromEntries(many(30_000, (at) => [`X-${at}`, 'v'])),
          personalizations: many(1000, (at) => ({ to: [{ email: `a${at}@b.example` }] })),
        }),
      ),
    }),
  ],
]
for (const [what, before, status, costly] of COSTLY) {
  t.test(`${what} delay no others`, async (t) => {
    const asked = costly()
    let answer: Awaited<ReturnType<typeof call>> | undefined
    const stop = await longestStop(async () => {
      answer = await call(base, asked)
    })
    t.equal(answer?.status, status, answer?.text ?? '')
    t.comment(`figures: ${what}: ${Math.round(stop)} ms, before ${before}`)
    t.ok(stop < 200 || stop < limitHere(200), `${Math.round(stop)} ms`)
  })
}

t.test('a large call gets the same response as a small one', async (t) => {
  const content = `<p>${'x'.repeat(300_000)}</p>`
  const key = { 'idempotency-key': 'large' }
  const first = await call(base, { headers: { ...V2, ...key }, body: v2({ content }) })
  const again = await call(base, { headers: { ...V2, ...key }, body: v2({ content }) })
  t.equal(messageIdOf(again), messageIdOf(first))
  t.equal(again.headers['idempotent-replayed'], 'true')
  const [kept] =
    await service.sql`select host(client_address) as address from messages where id = ${messageIdOf(first)}::uuid`
  t.equal(kept?.address, '127.0.0.1')
  refused(t, await call(base, { headers: V2, body: v2({ content, personalizations: {} }) }), [400, 120])
  refused(t, await call(base, { headers: V2, body: `{"a":"${content}"` }), [400, 111])
  refused(t, await call(base, { headers: V2, body: v2({ content, subject: 7 }) }), [400, 113, /\[subject\]/])
  refused(t, await call(base, { headers: { api_key: 'nope' }, body: v2({ content }) }), [401, 101])
  const form = await call(base, { headers: { ...V2, ...FORM }, body: asForm(v2Body(sender, { content })) })
  t.equal(form.status, 200)
  const mail = v3({ content: [{ type: 'text/html', value: content }] })
  const sent = await call(base, { path: '/v3/mail/send', headers: V3, body: mail })
  t.strictSame([sent.status, sent.text], [202, ''])
  t.match(sent.headers['x-message-id'], /^[\w-]{22}$/)
  const zipped = { ...V3, 'content-encoding': 'gzip' }
  t.equal((await call(base, { path: '/v3/mail/send', headers: zipped, body: gzipSync(mail) })).status, 202)
  const wrong = await call(base, { path: '/v3/mail/send', headers: V3, body: mail.slice(1) })
  t.strictSame([wrong.status, wrong.json], [400, { errors: [{ message: 'Bad Request', field: null, help: null }] }])
})

t.test(
  'a process hands on small calls for many recipients or with large stored content, and finishes them when it is stopped',
  async (t) => {
    const api = await startProcess(t, 'api', { ...service.env, API_PORT: String(service.config.relayPort) })
    const url = `http://127.0.0.1:${service.config.relayPort}`
    const personalizations = many(500, (at) => ({ recipient: `a${at}@b.example` }))
    const id = messageIdOf(await call(url, { headers: V2, body: v2({ personalizations }) }))
    t.equal((await service.core.messages.show(id))?.deliveries.length, 500)
    const to = many(500, (at) => ({ to: [{ email: `a${at}@b.example` }] }))
    t.equal((await call(url, { path: '/v3/mail/send', headers: V3, body: v3({ personalizations: to }) })).status, 202)
    const stored = { templateName: 'large', content: `[%NAME%]${'x'.repeat(400_000)}` }
    const made = await call(url, { path: '/v2/templates', headers: { ...V2, ...JSON_TYPE }, body: stored })
    const { data } = made.json as { data: { templateId: number } }
    const render = {
      path: `/v2/templates/${data.templateId}/render`,
      headers: V2,
      body: { attributes: { NAME: 'Lena' } },
    }
    const rendered = (await call(url, render)).json?.data as { content: string }
    t.equal(rendered.content.slice(0, 6), 'Lenaxx')
    // The call waits for the table while the process is asked to stop, so it was certainly begun before.
    const { last, stopped } = await holding(t, service, async (locker) => {
      await locker`lock table messages in exclusive mode`
      const last = call(url, { headers: V2, body: v2({ content: undefined, templateId: data.templateId }) })
      await untilBlocked(locker, 1)
      const stopped = api.stop()
      await until('it to stop', () => api.log.some(({ msg }) => msg === 'stopping'))
      return { last, stopped }
    })
    t.equal((await last).status, 200)
    t.equal(await stopped, 0)
  },
)
