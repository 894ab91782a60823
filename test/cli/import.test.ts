import { type Core, type ImportRow, OPERATOR, type Sql } from '@postrider/core'
import t, { type Test } from 'tap'
import { ask } from '../api/v3/ask.ts'
import { dumpRows } from '../helpers/dump.ts'
import { makeService, type Sender } from '../helpers/service.ts'
import { startServer } from './fake-source.ts'
import { begin, postrider } from './postrider.ts'

const there = await makeService(t)
const base = await there.openApi()
const from = await there.makeSender()
await fill(from)

/** An account to move to, in a database of its own. */
const here = await makeService(t)

interface Counts {
  readonly added: number
  readonly there: number
  readonly differs: number
  readonly overwritten: number
  readonly refused: number
}

interface Report {
  readonly counts: Readonly<Record<string, Counts>>
  readonly differences: readonly string[]
  readonly refused: readonly string[]
  readonly leftBehind: readonly { readonly what: string }[]
}

const line = (to: Sender, ...more: string[]) => [
  'import',
  'sendgrid',
  '--account',
  String(to.accountId),
  '--key',
  from.apiKey,
  '--url',
  base,
  ...more,
]

async function run(
  to: Sender,
  ...more: string[]
): Promise<Report & { readonly code: unknown; readonly stderr: string }> {
  const { code, stdout, stderr } = await postrider(here.env, ...line(to, '--json', ...more))
  if (stdout === '') throw new Error(stderr)
  return { ...(JSON.parse(stdout) as Report), code, stderr }
}

/** Templates, groups and more suppressions than fit a page, made by the API of the first instance wherever it has a call. */
async function fill({ apiKey, accountId }: Sender): Promise<void> {
  const call = async (method: 'POST' | 'PATCH' | 'DELETE', path: string, body?: unknown): Promise<string> => {
    const { status, json, text } = await ask(base, { method, path, key: apiKey, body })
    if (status >= 300) throw new Error(`${method} ${path}: ${status} ${text}`)
    return String(json?.id)
  }
  for (const generation of ['legacy', 'dynamic']) {
    for (let number = 1; number <= 4; number++) {
      const template = await call('POST', '/templates', { name: `${generation} ${number} für «Ürün» 🙂`, generation })
      const versions = `/templates/${template}/versions`
      const ids: string[] = []
      for (let version = 1; version < number; version++) {
        const html = `<p>{{name}} ${version}</p><script>"\\"</script>\r\n${'é'.repeat(number * 20_000)}`
        const text = version % 2 ? { plain_content: `own words ${version}\n\n.\n` } : {}
        const data = version === 2 ? { test_data: '{"name": "Lena" }' } : { editor: 'design' }
        const name = { name: `v${version}`, subject: `Nº ${version} <%subject%>`, html_content: html }
        ids.push(await call('POST', versions, { ...name, ...text, ...data, active: version === 2 ? 1 : 0 }))
      }
      // A version in the middle becomes active, and the last template of each kind loses the one it has.
      if (number === 3) await call('POST', `${versions}/${ids[0]}/activate`)
      if (number === 4) await call('DELETE', `${versions}/${ids[1]}`)
    }
  }
  for (const [name, is_default] of [
    ['news', false],
    ['offers', true],
    ['gone', false],
    ['bills', false],
  ] as const) {
    await call('POST', '/asm/groups', { name, description: `about ${name}`, is_default })
  }
  await call('DELETE', '/asm/groups/3')
  const row = (line: number, reason: string, group?: string): ImportRow => ({
    line,
    email: `${reason}${group ?? ''}-${line}@harbor.example`,
    reason,
    group,
    since: new Date(Date.UTC(2020, 0, 1, 0, 0, line * 7)).toISOString(),
  })
  const numbers = Array.from({ length: 1201 }, (_, at) => at)
  const rows = async function* () {
    yield numbers.flatMap((at) => [row(at, 'unsubscribe'), row(at, 'hardbounce'), row(at, 'unsubscribe', '2')])
    yield numbers.slice(0, 40).flatMap((at) => [row(at, 'abuse'), row(at, 'unsubscribe', '4')])
    yield [{ line: 1, email: 'unsubscribe-5@harbor.example', reason: 'unsubscribe', group: '1', since: '2021-02-03' }]
  }
  await there.core.suppressions.import({ accountId, by: OPERATOR, rows: rows(), atomic: true })
  await call('POST', '/asm/groups/1/suppressions', { recipient_emails: ['Mixed+Case@harbor.example'] })
  await call('POST', '/asm/suppressions/global', {
    recipient_emails: ['"odd local"@harbor.example', 'ü@harbor.example'],
  })
}

/** What is to be the same, in its order. Dates of suppressions go over the wire in seconds. */
async function contentOf({ sql, core }: { readonly sql: Sql; readonly core: Core }, { accountId }: Sender) {
  const listed = await core.editableTemplates.list({
    accountId,
    generations: ['legacy', 'dynamic'],
    limit: 200,
    offset: 0,
  })
  return {
    order: listed.templates.map(({ id, versions }) => [id, versions.map((version) => [version.id, version.active])]),
    templates: await sql`
      select id, generation, name from editable_templates where account_id = ${accountId} order by id`,
    versions: await sql`
      select template_id, id, active, name, subject, html, plain, generate_plain, editor, test_data
        from editable_versions where account_id = ${accountId} order by template_id, id`,
    groups: await sql`
      select id, name, description, is_default from unsubscribe_groups
       where account_id = ${accountId} and deleted_at is null order by id`,
    suppressions: await sql`
      select scope, value, group_id, reason, date_trunc('second', since) as since, held_until
        from suppressions where account_id = ${accountId} order by value, group_id`,
  }
}

/** Two versions, one of them active. */
const isPair = (versions: readonly [string, boolean][]) => versions.length === 2 && versions[0]?.[1] === true

const ADDED = {
  groups: { added: 3 },
  templates: { added: 8 },
  versions: { added: 10 },
  'spam reports': { added: 40 },
  unsubscribes: { added: 1203 },
  bounces: { added: 1201 },
  'group suppressions': { added: 1243 },
}

t.test('a dry run lists what would be added, and changes no row of any table', async (t) => {
  const to = await here.makeSender()
  const before = await dumpRows(here.sql)
  const { code, counts, leftBehind } = await run(to, '--dry-run')
  t.equal(code, 0)
  t.match(counts, ADDED)
  t.ok(leftBehind.length > 0)
  t.strictSame(await dumpRows(here.sql), before)
})

t.test(
  'another instance is copied exactly: templates, versions, groups, suppressions; once more changes nothing',
  async (t) => {
    const to = await here.makeSender()
    const first = await run(to, '--yes')
    t.equal(first.code, 0, first.stderr)
    t.match(first.counts, ADDED)
    t.strictSame([first.differences, first.refused], [[], []])
    const copied = await contentOf(here, to)
    t.equal(copied.versions.length, 10)
    t.ok(copied.versions.some(({ active }) => active))
    t.strictSame(copied, await contentOf(there, from))

    const audited = await here.core.audit.list(to.accountId, { after: 0, limit: 1000 })
    const actions = Object.groupBy(audited, ({ action }) => action)
    t.equal(actions['template.create']?.length, 8)
    t.equal(actions['template.version.create']?.length, 10)
    t.equal(actions['group.create']?.length, 3)
    t.equal(actions['suppression.import']?.length, 4)
    t.notMatch(JSON.stringify(await dumpRows(here.sql)), from.apiKey)

    const before = await dumpRows(here.sql)
    const second = await run(to, '--yes')
    t.equal(second.code, 0)
    t.match(
      second.counts,
      Object.fromEntries(Object.entries(ADDED).map(([kind, { added }]) => [kind, { added: 0, there: added }])),
    )
    t.strictSame(await dumpRows(here.sql), before)
  },
)

t.test('a run that is killed, twice, leaves nothing wrong: it is run again and all is there', async (t) => {
  const to = await here.makeSender()
  for (const path of [/\/versions\/.*/, /spam_reports/]) {
    const proxy = await startProxy(t, path)
    const command = begin(here.env, [...line(to, '--yes'), '--url', proxy.url])
    await proxy.reached
    const half = await contentOf(here, to)
    t.ok(half.groups.length === 3 && half.templates.length > 0, 'it was in the middle')
    command.kill()
    t.equal((await command.ended).code, 'SIGKILL')
    const wanted = await contentOf(there, from)
    t.notSame(half, wanted)
  }
  const { code, counts } = await run(to, '--yes')
  t.equal(code, 0)
  t.match(counts, { groups: { added: 0, there: 3 } })
  t.strictSame(await contentOf(here, to), await contentOf(there, from))
})

t.test('what is here with the same id stays as it is and is told; --overwrite takes what is there', async (t) => {
  const to = await here.makeSender()
  const { accountId } = to
  await run(to, '--yes')
  const wanted = await contentOf(here, to)
  const { editableTemplates: templates, groups, suppressions } = here.core
  const [changed] = wanted.order.flatMap(([id, versions]) =>
    isPair(versions as [string, boolean][]) ? [{ id: id as string, versions: versions as [string, boolean][] }] : [],
  )
  if (!changed) throw new Error('no template has two versions')
  const act = { accountId, id: changed.id }
  await templates.rename(act, 'ours')
  await templates.editVersion({ ...act, versionId: String(changed.versions[0]?.[0]) }, { subject: 'ours' })
  await templates.activate({ ...act, versionId: String(changed.versions[1]?.[0]) })
  await groups.change({ accountId, id: 1 }, { name: 'ours', isDefault: true })
  await suppressions.removeAll({ accountId, emails: ['abuse-1@harbor.example'] })
  await suppressions.addAll({ accountId, emails: ['abuse-1@harbor.example'], reason: 'manual' })

  const before = await contentOf(here, to)
  const told = await run(to, '--yes')
  t.equal(told.code, 1)
  t.match(told.stderr, /import incomplete: 0 rejected, 4 different/)
  t.match(told.counts, {
    groups: { there: 1, differs: 2 },
    templates: { differs: 1, there: 7 },
    versions: { there: 9, differs: 1 },
    'spam reports': { there: 39, differs: 1 },
  })
  t.match(told.differences, [
    /group 1 .*"ours" in Postrider, "news" at the source/,
    /group 2/,
    /is named "ours" in Postrider/,
    /version/,
  ])
  t.strictSame(await contentOf(here, to), before)

  const plan = await run(to, '--dry-run', '--overwrite')
  t.match(plan.counts, { groups: { overwritten: 2 }, templates: { overwritten: 1 }, versions: { overwritten: 1 } })
  t.strictSame(await contentOf(here, to), before)
  const overwritten = await run(to, '--yes', '--overwrite')
  t.equal(overwritten.code, 0, overwritten.stderr)
  const after = await contentOf(here, to)
  t.strictSame({ ...after, suppressions: [] }, { ...wanted, suppressions: [] })
})

/** Hands everything on to the first instance until a path is asked for a second time: that is never answered. */
async function startProxy(t: Pick<Test, 'teardown'>, path: RegExp) {
  let asked = 0
  let tell: () => void = () => {}
  const reached = new Promise<void>((resolve) => {
    tell = resolve
  })
  const url = await startServer(t, async (request, response) => {
    if (path.test(request.url ?? '') && ++asked === (path.source.includes('spam') ? 1 : 4)) return tell()
    const { authorization = '' } = request.headers
    const answer = await fetch(`${base}${request.url}`, { headers: { authorization } })
    response.writeHead(answer.status).end(Buffer.from(await answer.arrayBuffer()))
  })
  return { url, reached }
}
