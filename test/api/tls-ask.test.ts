import t from 'tap'
import { makeService } from '../helpers/service.ts'

t.test('a proxy gets certificates for tracking hosts whose record points here, and for no other host', async (t) => {
  const service = await makeService(t)
  const { core, sql } = service
  const url = await service.openApi()
  const { accountId } = await service.makeSender()
  const add = async (name: string, state: 'right' | 'missing') => {
    await core.domains.add({ accountId, name, state: 'active', envelopeName: 'click.mail' })
    const record = `CNAME click.mail.${name}`
    await sql`
      update domains set records = jsonb_build_object(${record}::text, jsonb_build_object('state', ${state}::text)) where name = ${name}`
  }
  await add('right.example', 'right')
  await add('wrong.example', 'missing')
  await add('left.example', 'right')
  await sql`update domains set state = 'inactive' where name = 'left.example'`
  await add('gone.example', 'right')
  await sql`update domains set deleted_at = service_now() where name = 'gone.example'`
  const ask = async (domain: string, headers: Record<string, string> = {}) =>
    (await fetch(`${url}/tls/ask?domain=${encodeURIComponent(domain)}`, { headers })).status
  t.equal(await ask('click.mail.right.example'), 200)
  t.equal(await ask('CLICK.mail.right.example.'), 200)
  t.equal(await ask('click.mail.left.example'), 200, 'mail that was sent has its links')
  for (const host of [
    'click.mail.wrong.example',
    'click.mail.gone.example',
    'mail.right.example',
    'x.click.mail.right.example',
    'right.example',
    'click.mail.nobody.example',
    '*.right.example',
    'click.mail.right.example\0',
    `${'a.'.repeat(200)}example`,
    '127.0.0.1',
    '',
  ])
    t.equal(await ask(host), 404, host)
  t.equal((await fetch(`${url}/tls/ask`)).status, 404)
  t.equal((await fetch(`${url}/tls/ask?domain=a.b.c&domain=click.mail.right.example`)).status, 404)
  for (const name of ['x-forwarded-for', 'forwarded', 'x-real-ip', 'via'])
    t.equal(await ask('click.mail.right.example', { [name]: '203.0.113.9' }), 404, `passed on by the proxy: ${name}`)
})

t.test('a name is looked up once in half a minute, whether it is known or not', async (t) => {
  const { core, sql } = await makeService(t)
  const asked = [...Array(30).keys()].map((at) => `click.host${at % 3}.example`)
  t.strictSame(new Set(await Promise.all(asked.map((host) => core.domains.isTrackingHost(host)))), new Set([false]))
  for (const host of asked) t.equal(await core.domains.isTrackingHost(host), false)
  // Without the table, nothing could be looked up.
  await sql`alter table domains rename to domains_away`
  t.equal(await core.domains.isTrackingHost('click.host1.example'), false)
  await t.rejects(async () => core.domains.isTrackingHost('click.other.example'))
  await sql`alter table domains_away rename to domains`
})
