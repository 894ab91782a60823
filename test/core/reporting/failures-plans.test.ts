import { createCore, createLog, openDatabase, readConfig } from '@postrider/core'
import t from 'tap'
import { makeGrownService } from '../../helpers/grown.ts'
import { nodesOf, type PlanNode, planOf, recordStatements, wholeScans } from '../../helpers/statements.ts'

t.test(
  'the lists of failures read the newest of an account by the indexes of events, and one address by its deliveries',
  async (t) => {
    const {
      service,
      owners: { large: accountId },
    } = await makeGrownService(t)
    const recorder = await recordStatements(t, service.env.DATABASE_URL as string)
    const sql = openDatabase({ url: recorder.url, name: 'test', connections: 2 })
    const core = createCore({ sql, config: readConfig(service.env), log: createLog('test', 'silent') })
    t.teardown(async () => {
      core.readiness.close()
      await sql.end({ timeout: 1 })
    })
    const page = { limit: 500, offset: 0 }
    const [first] = await core.failures.browse(accountId, { ...page, kind: 'block' })
    t.ok(first)
    const span = { from: new Date(Date.now() - 40 * 86_400_000), to: new Date() }
    for (const kind of ['block', 'invalid'] as const) {
      await core.failures.browse(accountId, { ...page, kind })
      await core.failures.browse(accountId, { ...page, kind, ...span })
      await core.failures.count(accountId, { ...page, kind })
    }
    const read = recorder.statements().filter(({ text }) => text.includes('cleared_failures'))
    t.ok(read.length >= 6)
    for (const statement of read) {
      const nodes = nodesOf(await planOf(service.sql, statement))
      const scans = nodes.filter(({ node }) => /^(events|finished_deliveries)_/.test(node['Relation Name'] ?? ''))
      t.ok(scans.length > 0)
      t.same(wholeScans(nodes[0]?.node as PlanNode), [], statement.text)
      for (const { node, above } of scans.filter(({ node }) => /^events_.*_occu/.test(node['Index Name'] ?? ''))) {
        t.match(node['Index Cond'], /account_id = /)
        // In the order of the index, and only as far as the limit.
        t.same(
          above.slice(0, 2).map((one) => one['Node Type']),
          ['Merge Append', 'Limit'],
        )
      }
    }
  },
)
