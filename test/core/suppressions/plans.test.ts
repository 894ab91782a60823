import { type BrowseFilter, createCore, createLog, openDatabase, readConfig } from '@postrider/core'
import t from 'tap'
import { makeGrownService } from '../../helpers/grown.ts'
import { nodesOf, planOf, recordStatements } from '../../helpers/statements.ts'

t.test('the v3 lists read the entries of a reason in their order, never the whole list', async (t) => {
  const {
    service,
    owners: { large: accountId },
  } = await makeGrownService(t)
  const url = service.env.DATABASE_URL as string
  const recorder = await recordStatements(t, url)
  const sql = openDatabase({ url: recorder.url, name: 'test', connections: 2 })
  const core = createCore({ sql, config: readConfig(service.env), log: createLog('test', 'silent') })
  t.teardown(async () => {
    core.readiness.close()
    await sql.end({ timeout: 1 })
  })
  const asked: BrowseFilter = { reasons: ['hardbounce', 'abuse'], group: 0, limit: 500, offset: 0 }
  const filters: BrowseFilter[] = [
    asked,
    { ...asked, offset: 2000 },
    { ...asked, prefix: 's19' },
    { ...asked, from: new Date(0), to: new Date() },
  ]
  for (const filter of filters) {
    const found = await core.suppressions.browse(accountId, filter)
    t.ok(found.length > 0)
    t.same(
      found.map(({ email }) => email),
      found.map(({ email }) => email).sort(),
    )
  }
  const read = recorder.statements().filter(({ text }) => text.includes('from suppressions'))
  t.equal(read.length, 3, 'an offset makes no other statement')
  for (const statement of [...read, 'not vacuumed' as const, ...read]) {
    if (statement === 'not vacuumed') {
      await service.sql`update pg_class set relallvisible = 0 where relname = 'suppressions'`
      continue
    }
    const nodes = nodesOf(await planOf(service.sql, statement))
    const scans = nodes.filter(({ node }) => node['Relation Name'] === 'suppressions')
    const { suppressions_browse: list, ...others } = Object.fromEntries(
      scans.map(({ node }) => [node['Index Name'], node['Index Cond']]),
    )
    t.match(list, /account_id = .*reason = .*group_id = /, statement.text)
    t.match(
      others,
      { suppressions_pkey: /account_id = .*value = .*group_id = / },
      'and each entry of the page by its key',
    )
    t.equal(scans.length, 2)
  }
})
