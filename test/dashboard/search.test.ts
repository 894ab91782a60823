import { messageIdText } from '@postrider/core'
import t, { type Test } from 'tap'
import { call } from '../api/call.ts'
import { postrider } from '../cli/postrider.ts'
import { DELIVERED } from '../core/delivery/queue-of.ts'
import { acceptMessage, envelopeTo } from '../core/submission.ts'
import { claimDue } from '../helpers/claim.ts'
import { moveClock } from '../helpers/database.ts'
import { registerWorker } from '../helpers/lease.ts'
import { openDashboard, sendingOwner } from './dashboard.ts'

/** An account with the mail that the searches below are about. Each message is known by the first word of its recipient. */
async function makeMail(t: Test) {
  const dashboard = await openDashboard(t)
  const { service } = dashboard
  const { core, sql } = service
  const ada = await sendingOwner(dashboard)
  const named = (address: string, name: string) => ({ names: new Map([[address, name]]) })
  const mail = {
    anna: await acceptMessage(service, ada, {
      envelopes: [
        {
          ...envelopeTo('anna.mueller@harbor.example', named('anna.mueller@harbor.example', 'Anna Müller')),
          reference: 'order-100732',
        },
      ],
      subject: 'Your invoice 2026-0815 is ready',
      tags: ['billing'],
    }),
    jsmith: await acceptMessage(service, ada, {
      envelopes: [
        { ...envelopeTo('jsmith@pier.example', named('jsmith@pier.example', 'John')), reference: 'AB-17/2026' },
      ],
      subject: 'Ihre Rechnung für Größe XL',
      tags: ['rechnung', 'spring sale'],
    }),
    vip: await acceptMessage(service, ada, {
      envelopes: [{ ...envelopeTo('vip-desk@quay.example'), messageId: '<reset.77@shop.example>' }],
      subject: 'Password reset',
      tags: ['security'],
    }),
    lena: await acceptMessage(service, ada, {
      envelopes: [envelopeTo('lena@bücher.example')],
      subject: 'ПРИВЕТ из порта',
      scheduledAt: new Date(Date.now() + 3_600_000),
    }),
  }
  const { workerId } = await registerWorker(t, core)
  for (const one of await claimDue(core, { workerId, limit: 10 }))
    await core.deliveries.record([{ ...one, workerId, outcome: DELIVERED }])
  await sql`
    insert into engagements (message_id, recipient_no, kind, machine, total, hour, in_hour)
    values (${mail.anna.messageId}, 0, 'opened', false, 1, date_trunc('hour', now()), 1),
           (${mail.anna.messageId}, 0, 'clicked', false, 1, date_trunc('hour', now()), 1),
           (${mail.vip.messageId}, 0, 'opened', true, 1, date_trunc('hour', now()), 1)`
  await sql`
    insert into events (occurred_at, account_id, type, message_id, recipient_no)
    select service_now(), ${ada.accountId}, type, id, 0 from (values ('complained', ${mail.jsmith.messageId}::uuid),
           ('opened', ${mail.anna.messageId}::uuid), ('clicked', ${mail.anna.messageId}::uuid)) happened(type, id)`
  const stranger = await service.makeSender()
  await acceptMessage(service, stranger, {
    subject: 'Your invoice 2026-0815',
    envelopes: [envelopeTo('anna.mueller@harbor.example')],
  })
  const bases = await sql<{ id: string; number: string }[]>`
    select id::text, transaction_base::text as number from messages where id = ${mail.jsmith.messageId}::uuid`
  return { dashboard, ada, mail, transactionNumber: bases[0]?.number ?? '' }
}

const ALL = ['lena', 'vip', 'jsmith', 'anna']

t.test(
  'what a person would write finds what is meant, by API, command line and dashboard, in blocks or not',
  async (t) => {
    const { dashboard, ada, mail, transactionNumber } = await makeMail(t)
    const { service, url } = dashboard
    const id = messageIdText(mail.anna.messageId)
    const queries: readonly (readonly [query: string, expected: readonly string[]])[] = [
      ['invoice', ['anna']],
      ['INVOICE', ['anna']],
      ['inv', ['anna']],
      ['voice', []],
      ['invoice ready', ['anna']],
      ['invoice rechnung', []],
      ['Müller', ['anna']],
      ['mueller', ['anna']],
      ['anna müller', ['anna']],
      ['John', ['jsmith']],
      ['smith', ['jsmith']],
      ['"smith"', []],
      ['100732', ['anna']],
      ['order-100732', ['anna']],
      ['2026-0815', ['anna']],
      ['AB-17/2026', ['jsmith']],
      ['Rechnung', ['jsmith']],
      ['größe', ['jsmith']],
      ['grosse xl', ['jsmith']],
      ['„für Größe“', ['jsmith']],
      ['привет', ['lena']],
      ['bücher.example', ['lena']],
      ['harbor.example', ['anna']],
      ['anna.mueller@harbor.example', ['anna']],
      ['anna.mueller@', ['anna']],
      ['to:vip*', ['vip']],
      ['to:@pier.example', ['jsmith']],
      ['to:anna', ['anna']],
      ['to:invoice', []],
      ['subject:invoice', ['anna']],
      ['subject:anna', []],
      ['subject:reset', ['vip']],
      ['"password reset"', ['vip']],
      ['"reset password"', []],
      ['reset password', ['vip']],
      ['billing', ['anna']],
      ['tag:billing', ['anna']],
      ['tag:"spring sale"', ['jsmith']],
      ['ref:100732', ['anna']],
      [id, ['anna']],
      [mail.anna.messageId, ['anna']],
      [`<${id}.0@ship.example>`, ['anna']],
      [`${id}.0@ship.example`, ['anna']],
      ['<reset.77@shop.example>', ['vip']],
      ['reset.77@shop.example', ['vip']],
      ['id:<reset.77@shop.example>', ['vip']],
      [transactionNumber, ['jsmith']],
      [`id:${transactionNumber}`, ['jsmith']],
      ['17676078720000004', []],
      ['from:desk', ALL],
      ['desk', ['vip']],
      ['-invoice', ['lena', 'vip', 'jsmith']],
      [`-${id}`, ['lena', 'vip', 'jsmith']],
      [`-${id}.0@ship.example`, ['lena', 'vip', 'jsmith']],
      ['-<reset.77@shop.example>', ['lena', 'jsmith', 'anna']],
      [`-${transactionNumber} example`, ['lena', 'vip', 'anna']],
      [`-id:${transactionNumber}`, ['lena', 'vip', 'anna']],
      ['-anna.mueller@harbor.example', ['lena', 'vip', 'jsmith']],
      [`-17676078720000004 -${id} -invoice`, ['lena', 'vip', 'jsmith']],
      ['-invoice -state:scheduled', ['vip', 'jsmith']],
      ['example -to:@pier.example', ['lena', 'vip', 'anna']],
      ['after:1h', ALL],
      ['after:2d example', ALL],
      ['before:yesterday', []],
      ['after:gestern', ALL],
      ['state:opened', ['anna']],
      ['state:clicked', ['anna']],
      ['state:complained', ['jsmith']],
      ['state:scheduled,opened', ['lena', 'anna']],
      ['state:opened invoice', ['anna']],
      ['state:delivered example', ['vip', 'jsmith', 'anna']],
      ['-state:delivered', ['lena']],
      ['nothing-like-this', []],
    ]
    const first = (recipient: string) => /^[a-z]+/.exec(recipient)?.[0] ?? ''
    async function check(t: Test) {
      for (const [query, expected] of queries) {
        const search = encodeURIComponent(query)
        const { json } = await call(url, {
          method: 'GET',
          path: `/v2/messages?search=${search}`,
          headers: { api_key: ada.apiKey },
        })
        const rows = (json?.data ?? []) as { readonly recipient: string }[]
        t.strictSame([rows.map(({ recipient }) => first(recipient)), json?.partial], [expected, false], `API: ${query}`)
        const page = await (await ada.get(`/app/${ada.accountId}/messages?q=${search}`)).text()
        const shown = [...page.matchAll(/<\/span><bdi>([^<]+)@/g)].map(([, recipient = '']) => first(recipient))
        t.strictSame(shown, expected, `page: ${query}`)
        const args = ['message', 'list', '--json', '--account', String(ada.accountId), '--', query]
        const listed = JSON.parse((await postrider(service.env, ...args)).stdout) as {
          deliveries: { recipient: string }[]
        }
        t.strictSame(
          listed.deliveries.map(({ recipient }) => first(recipient)),
          expected,
          `command line: ${query}`,
        )
      }
    }
    await t.test('one by one', check)
    t.teardown(() => moveClock(service.sql, '0'))
    await moveClock(service.sql, '11 minutes')
    while (await service.core.messages.fillSearch());
    const [blocks] = await service.sql<{ count: number }[]>`select count(*)::int as count from search_blocks`
    t.equal(blocks?.count, 2, 'one for each account')
    await t.test('in blocks', check)
  },
)
