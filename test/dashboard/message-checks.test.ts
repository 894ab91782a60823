import t from 'tap'
import { numberEvents } from '../helpers/number-events.ts'
import { sendV2, v2Body } from '../helpers/send.ts'
import { openDashboard, sendingOwner } from './dashboard.ts'

async function makePage(t: Parameters<typeof openDashboard>[0]) {
  const dashboard = await openDashboard(t)
  const ada = await sendingOwner(dashboard)
  const { url } = dashboard
  const send = async (extra: Record<string, unknown> = {}) => {
    const { body } = await sendV2(url, ada.apiKey, v2Body(ada, extra))
    return body.data?.message_id as string
  }
  const page = async (id: string, query = '', language = 'en') => {
    const headers = { cookie: ada.cookie, 'accept-language': language }
    return (await (await fetch(`${url}/app/${ada.accountId}/messages/${id}${query}`, { headers })).text()).replace(
      /\s+/g,
      ' ',
    )
  }
  const row = async (id: string, name: string, language?: string) =>
    new RegExp(`<tr><th scope="row">${name}</th>(.*?)</tr>`)
      .exec(await page(id, '?tab=checks', language))?.[1]
      ?.replace(/<[^>]+>/g, ' ')
      .replace(/\s+/g, ' ')
      .trim()
  return { ...dashboard, ada, send, page, row }
}

t.test('the checks of a message: its domain as a receiver judges it, links, images and words', async (t) => {
  const { ada, send, row, service } = await makePage(t)
  const id = await send({ content: '<a href="https://bit.ly/x">here</a><img src="a.png">' })
  t.match(await row(id, 'Shortened links'), /^Problem 1: https:\/\/bit\.ly\/x/)
  t.match(await row(id, 'Verkürzte Links', 'de'), /^Problem 1: https:\/\/bit\.ly\/x/)
  t.match(await row(id, 'Images without alternative text'), /^Hint 1: a\.png/)
  t.match(await row(id, 'Links without TLS'), /^Good/)
  t.match(await row(id, 'DMARC'), /^Problem Fails: neither DKIM nor SPF/)
  await service.sql`
    update domains d set records = (
      select jsonb_object_agg('TXT ' || k.selector || '._domainkey.' || d.name, '{"state":"right"}'::jsonb) from dkim_keys k where k.domain_id = d.id)
     where account_id = ${ada.accountId}`
  t.match(await row(id, 'DKIM'), new RegExp(`^Good Signed for ${ada.domain}`))
  t.match(await row(id, 'DMARC'), /^Hint Passes, but no record is published/)
  t.match(await row(id, 'DMARC', 'de'), /^Hinweis Besteht, doch kein Eintrag/)
})

t.test('support, who may not see what a message says, does not see its checks', async (t) => {
  const { ada, member, send } = await makePage(t)
  const id = await send({ content: '<a href="https://bit.ly/x">here</a>' })
  const sam = await member(ada.accountId, 'support')
  t.notMatch(await (await sam.get(`/app/${ada.accountId}/messages/${id}?tab=checks`)).text(), 'bit.ly')
})

t.test('webhook calls that reported events of the message are listed, and no other', async (t) => {
  const { ada, send, page, service } = await makePage(t)
  const { core, sql } = service
  const [before, id, after] = [await send(), await send(), await send()]
  await numberEvents(service)
  const { webhook } = await core.webhooks.create(ada.accountId, {
    ...{
      url: 'https://hooks.ship.example/x',
      events: ['processed', 'sent'],
      names: null,
      label: '',
      signed: true,
      format: 'v3',
    },
    ...{ asText: false, abuse: false, eventIds: false, headers: {}, enabled: false },
  } as never)
  const feed = await core.events.read({ accountId: ada.accountId, after: 0, limit: 100 })
  const number = feed.events.find(({ delivery }) => delivery?.messageId === id)?.number as number
  await sql`
    insert into webhook_deliveries (webhook_id, place, account_id, batch_id, at, after_number, to_number, attempt, status, milliseconds, problem)
    values (${webhook.id}, 100001, ${ada.accountId}, gen_random_uuid(), service_now(), ${number - 1}, ${number}, 2, 503, 40, 'busy now'),
           (${webhook.id}, 1, ${ada.accountId}, gen_random_uuid(), service_now(), ${number}, ${number + 100}, 1, 200, 41, null)`
  await sql`update webhooks set succeeded = 1, failed = 1 where id = ${webhook.id}`
  t.match(await page(id), /Webhook calls.*hooks\.ship\.example.*Accepted: 503, attempt 2, 40 ms: .*busy now/)
  t.notMatch(await page(id), 'attempt 1, 41 ms')
  t.match(await page(id, '', 'de'), /Webhook-Aufrufe.*Angenommen: 503, Versuch 2/)
  t.notMatch(await page(before), 'Webhook calls')
  t.match(await page(after), 'attempt 1, 41 ms')
})

t.test('other messages to the same recipient are listed, and those with its tags are linked', async (t) => {
  const { ada, send, page } = await makePage(t)
  const other = await send({ subject: 'Berth 5' })
  await send({ subject: 'Elsewhere', personalizations: [{ recipient: 'mia@souq.example' }] })
  const id = await send({ tags: ['dock 2'] })
  const shown = await page(id)
  const box = /To the same recipient.*?<\/section>/.exec(shown)?.[0]
  t.match(box, `href="/app/${ada.accountId}/messages/${other}"`)
  t.notMatch(box, 'Elsewhere')
  t.match(box, `messages?q=${encodeURIComponent('tag:"dock 2"')}`)
  t.match(await page(id, '', 'de'), 'An denselben Empfänger')
})
