import { get } from 'node:http'
import t from 'tap'
import { makeService } from '../../helpers/service.ts'
import { costOf, limitHere } from '../../helpers/turns.ts'
import { ask, refusedV3 } from './ask.ts'

const service = await makeService(t)
const base = await service.openApi()

/** Makes an account with a template of one version, and copies of that version until it has `versions`. */
async function makeAccount({ versions, html, subject = 's' }: { versions: number; html: string; subject?: string }) {
  const { apiKey: key, accountId } = await service.makeSender()
  const call = (method: string, path: string, body?: unknown) => ask(base, { key, method, path, body })
  const made = await call('POST', '/templates', { name: 'a', generation: 'dynamic' })
  const path = `/templates/${made.json?.id}`
  const version = { name: 'v', subject, html_content: html, plain_content: 'x' }
  const first = await call('POST', `${path}/versions`, version)
  await service.sql`
    with made as (
      insert into editable_templates (account_id, id, generation, name)
      select ${accountId}, gen_random_uuid()::text, 'legacy', 'b' from generate_series(1, ${Math.ceil(versions / 300)})
      returning id
    ), placed as (select id, row_number() over () as place from made)
    insert into editable_versions (account_id, template_id, id, active, name, subject, html, plain, generate_plain, editor)
    select ${accountId}, p.id, gen_random_uuid(), false, v.name, v.subject, v.html, v.plain, false, v.editor
      from editable_versions v, generate_series(0, ${versions - 2}) as at join placed p on p.place = at / 300 + 1
     where v.account_id = ${accountId}`
  return { key, call, path, version, versionPath: `${path}/versions/${first.json?.id}` }
}

t.test('an account has at most 10,000 versions of templates, copies included, so that lists are bounded', async (t) => {
  const { call, path, version, versionPath } = await makeAccount({ versions: 9_998, html: 'x' })
  t.equal((await call('POST', `${path}/versions`, version)).status, 201)
  const refusal = [400, /^Template storage limit of 10000 versions exceeded$/, null] as const
  refusedV3(t, await call('POST', path, {}), refusal, 'a copy of two')
  t.equal((await call('POST', `${path}/versions`, version)).status, 201)
  refusedV3(t, await call('POST', `${path}/versions`, version), refusal, 'one more')
  t.equal((await call('PATCH', versionPath, { html_content: 'xx' })).status, 200)
  t.equal((await call('POST', '/templates', { name: 'without versions' })).status, 201)
  const listed = await call('GET', '/templates?generations=legacy,dynamic')
  const templates = listed.json?.templates as { versions: unknown[] }[]
  t.equal(templates.flatMap(({ versions }) => versions).length, 10_000)
  t.equal((await call('DELETE', versionPath)).status, 204)
  t.equal((await call('POST', `${path}/versions`, version)).status, 201)
})

t.test('a list of 10,000 versions leaves turns of the main loop to other calls', async (t) => {
  const { key } = await makeAccount({ versions: 9_999, html: 'x', subject: 's'.repeat(250) })
  const list = () =>
    new Promise<number>((resolve, reject) => {
      const path = `${base}/v3/templates?generations=legacy,dynamic`
      const asked = get(path, { headers: { authorization: `Bearer ${key}` } }, (response) => {
        let octets = 0
        response.on('data', ({ length }: Buffer) => (octets += length)).on('end', () => resolve(octets))
      })
      asked.on('error', reject)
    })
  t.ok((await list()) > 4_000_000)
  // Collections of the heap are a part of some, not of most.
  const turns: number[] = []
  for (let time = 0; time < 7; time++) turns.push(Math.round((await costOf(list)).longest))
  turns.sort((a, b) => a - b)
  const third = turns[2] ?? 0
  t.ok(third < 30 || third < limitHere(30), `${turns} ms`)
})

t.test('the templates of an account have at most 1 GB, copies included', async (t) => {
  const html = 'x'.repeat(10 * 1024 * 1024 - 2)
  const { call, path, version, versionPath } = await makeAccount({ versions: 102, html })
  const refusal = [400, /^Template storage limit of 1 GB exceeded$/, null] as const
  refusedV3(t, await call('POST', path, {}), refusal, 'a copy')
  refusedV3(t, await call('POST', `${path}/versions`, version), refusal, 'a version')
  refusedV3(t, await call('PATCH', versionPath, { plain_content: 'x'.repeat(5 * 1024 * 1024) }), refusal)
  t.equal((await call('PATCH', versionPath, { plain_content: 'xx' })).status, 200)
  t.equal((await call('PATCH', versionPath, { html_content: 'x' })).status, 200)
  t.equal((await call('POST', path, {})).status, 201)
})
