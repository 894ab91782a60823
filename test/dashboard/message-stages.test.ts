import t from 'tap'
import { DELIVERED } from '../core/delivery/queue-of.ts'
import { claimDue } from '../helpers/claim.ts'
import { registerWorker } from '../helpers/lease.ts'
import { sendV2, v2Body } from '../helpers/send.ts'
import { openDashboard, sendingOwner } from './dashboard.ts'

const STEPS = [
  { step: 'connect', ms: 32, text: 'mx.harbor.example [192.0.2.25]:25' },
  { step: 'greeting', ms: 11, code: 220, text: 'mx.harbor.example ESMTP' },
  { step: 'ehlo', ms: 12, code: 250, text: 'PIPELINING' },
  { step: 'mail', ms: 40, code: 250, enhanced: '2.1.0', text: 'OK' },
  { step: 'rcpt', ms: 42, code: 250, enhanced: '2.1.5', text: 'OK' },
  { step: 'data', ms: 58, code: 354, text: 'Go ahead' },
  { step: 'dot', ms: 300, code: 250, enhanced: '2.0.0', text: 'OK 17' },
]
const marked = STEPS.map((one) => (one.step === 'rcpt' || one.step === 'data' ? { ...one, together: true } : one))

async function makePage(t: Parameters<typeof openDashboard>[0]) {
  const dashboard = await openDashboard(t)
  const ada = await sendingOwner(dashboard)
  const { core, sql } = dashboard.service
  const { body } = await sendV2(dashboard.url, ada.apiKey, v2Body(ada))
  const id = body.data?.message_id as string
  const { workerId } = await registerWorker(t, core)
  const claimed = await claimDue(core, { workerId, limit: 10 })
  await core.deliveries.record(claimed.map((one) => ({ ...one, workerId, outcome: DELIVERED })))
  const page = async (steps: unknown, milliseconds: number, query = '') => {
    await sql`
      update attempts set conversation = ${sql.json(steps as never)}, milliseconds = ${milliseconds},
             started_at = (select accepted_at + interval '250 milliseconds' from messages where id = message_id)`
    return (await (await ada.get(`/app/${ada.accountId}/messages/${id}${query}`)).text()).replace(/\s+/g, ' ')
  }
  const bars = async (steps: unknown, milliseconds: number) =>
    [
      ...(await page(steps, milliseconds)).matchAll(
        /<tr><th scope="row">([^<]*)<\/th>.*?x="([\d.]+)".*?<td class="n">([^<]*)<\/td>/g,
      ),
    ].map(([, name, x, took]) => [name, Number(x), took])
  return { page, bars }
}

const WHOLE = [
  ['Waited in the queue', 0, '250 ms'],
  ['Connect', 250, '32 ms'],
  ['Greeting', 282, '11 ms'],
  ['EHLO', 293, '12 ms'],
  ['MAIL, RCPT, DATA', 305, '58 ms'],
  ['Message and answer', 363, '300 ms'],
  ['Building and recording', 663, '7 ms'],
]

t.test(
  'what left in one write is one bar, behind the time in the queue, and the bars sum up to the whole time',
  async (t) => {
    const { bars } = await makePage(t)
    t.strictSame(await bars(marked, 420), WHOLE)
    t.strictSame(await bars(STEPS, 420), WHOLE, 'also of an attempt that was stored without marks')
    const one = STEPS.reduce((sum, { ms }) => sum + ms, 0)
    t.strictSame(
      (await bars(STEPS, one)).map(([name]) => name).slice(4, 7),
      ['MAIL', 'RCPT', 'DATA'],
      'one after the other',
    )
  },
)

t.test('the SMTP session shows both sides: the commands of one write before their replies', async (t) => {
  const { page } = await makePage(t)
  const shown = await page(marked, 420, '?tab=transcript')
  const lines = [
    ...shown.matchAll(
      /<span class="(?:info|faint)"(?: title="(we|they)")?>.*?<td class="any">(?:<bdi>)?(.*?)(?:<\/bdi>)?<\/td>/g,
    ),
  ].map(([, who, text]) => `${who ?? '-'} ${text?.trim()}`)
  t.strictSame(lines.slice(2), [
    'we EHLO',
    'they 250 PIPELINING',
    'we MAIL FROM',
    'we RCPT TO:&lt;lena@harbor.example&gt;',
    'we DATA',
    'they 250 2.1.0 OK',
    'they 250 2.1.5 OK',
    'they 354 Go ahead',
    lines[10],
    'they 250 2.0.0 OK 17',
  ])
  t.match(lines[10], /^we the message, .*, then the final dot$/)
  t.match(shown, 'Of our commands only the kind is stored')
})
