import t from 'tap'
import { countAll } from '../core/reporting/statistics/happen.ts'
import { openDashboard } from './dashboard.ts'
import { member } from './members.ts'

t.test(
  'nothing says that all is well while something needs the owner, who sees what, since when and what to do',
  async (t) => {
    const dashboard = await openDashboard(t, { REPUTATION_RULES: 'standard' })
    const { service } = dashboard
    const { core, sql } = service
    const sender = await service.makeSender()
    const { accountId } = sender
    const ada = await member(dashboard, sender)
    const shown = async (language = 'en') => {
      const headers = { cookie: ada.cookie, 'accept-language': language }
      return (await fetch(`${dashboard.url}/app/${accountId}`, { headers })).text()
    }
    t.match(await shown(), 'All is well. Domains, webhooks, keys')
    const items: string[] = []
    const needs = async (...texts: (string | RegExp)[]) => {
      const text = await shown()
      t.notMatch(text, 'All is well')
      t.match(text, 'Something needs you; see below.')
      for (const part of texts) t.match(text, part)
      items.push(String(texts[0]))
      t.match(text, new RegExp(`<span class="badge wait push">${items.length}</span>`), String(texts[0]))
    }
    const { webhook } = await core.webhooks.create(accountId, {
      ...{ url: 'https://hooks.ship.example/x', events: ['sent'], names: null, label: '', signed: true, format: 'v2' },
      ...{ asText: false, abuse: false, eventIds: false, headers: {}, enabled: false },
    } as never)
    t.match(await shown(), 'All is well', 'a webhook that its owner stopped is well')
    await sql`update webhooks set disabled_at = service_now(), disabled_reason = 'gone' where id = ${webhook.id}`
    await needs(
      new RegExp(`href="/app/${accountId}/webhooks/${webhook.id}">A webhook was disabled: .*hooks.ship.example`),
      'resume the webhook; no event is lost',
    )
    await core.webhooks.create(accountId, { ...webhook, url: 'https://hooks2.ship.example/' } as never)
    await sql`update webhooks set enabled = true, failing_since = service_now() where id = ${webhook.id + 1}`
    await needs('A webhook is failing', 'After three days it is disabled')
    const until = new Date(Date.now() + 20 * 86_400_000)
    const { key } = await core.auth.createKey({ accountId, name: 'shop <b>', restrictions: { until } })
    await sql`update api_keys set expires_at = now() + interval '3 days', created_at = now() - interval '90 days' where id = ${key.id}`
    await needs(/An API key expires soon: (<bdi>)?shop &lt;b&gt;/, 'Rotate it, or give it another expiry')
    const [{ email } = { email: '' }] = await sql<{ email: string }[]>`
    select u.email from memberships m join users u on u.id = m.user_id where m.account_id = ${accountId}`
    await core.suppressions.add({ accountId, scope: 'address', value: email, reason: 'manual' })
    await needs('A member of the account gets no mail from it', email)
    const detail = {
      from: 'api.provider.example',
      added: 1,
      unchanged: 0,
      rejected: 2,
      failure: 'import incomplete: 2 rejected',
    }
    await core.people.notices.note({ accountId, kind: 'import', subject: '', mark: '1', detail })
    await needs('An import is incomplete', 'From api.provider.example', 'import incomplete: 2 rejected')
    t.match(
      await shown('de'),
      /Ein Webhook wurde abgeschaltet.*Ein API-Schlüssel läuft bald ab.*Ein Import ist unvollständig/s,
    )
  },
)

t.test('a warning has its figures and its limit, for the owner as for the operator', async (t) => {
  const dashboard = await openDashboard(t, { REPUTATION_RULES: 'standard' })
  const { service, owner } = dashboard
  const { core, sql } = service
  const sender = await service.makeSender()
  const { accountId } = sender
  const [ada, operator] = [await member(dashboard, sender), await owner()]
  await sql`
    insert into events (occurred_at, account_id, type, message_id, recipient_no, detail)
    select service_now(), ${accountId}, case when n <= 1000 then 'sent' else 'bounced' end, gen_random_uuid(), 0, '{"attempt":1,"class":"bad-mailbox"}'
      from generate_series(1, 1048) n`
  await countAll(service)
  while ((await core.reputation.evaluateSome()).more);
  const figures = /4\.6 %, 48 hard bounces of 1,048 outcomes since \d\d:\d\d[^;]*; warned from 4\.0 %/
  t.match(await (await ada.get(`/app/${accountId}`)).text(), figures)
  t.match(await (await operator.get(`/app/operator/accounts/${accountId}`)).text(), figures)
  const strict = /warned from 2\.0 %/
  await core.reputation.setRules(accountId, 'strict')
  t.match(await (await ada.get(`/app/${accountId}`)).text(), strict, 'of the rules of the account')
})
