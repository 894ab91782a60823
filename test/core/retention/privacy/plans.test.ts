import { openDatabase } from '@postrider/core'
import t from 'tap'
import { PERSON } from '../../../../bench/growth/scale.ts'
import { eraseBatch } from '../../../../packages/core/src/retention/privacy/erase-batch.ts'
import { findFinished, firstFew } from '../../../../packages/core/src/retention/privacy/find.ts'
import { makeGrownService } from '../../../helpers/grown.ts'
import { nodesOf, planOf, recordStatements, wholeScans } from '../../../helpers/statements.ts'

t.test('what is swept of a person is found by its messages, never by the account', async (t) => {
  const {
    service,
    owners: { large: accountId },
  } = await makeGrownService(t)
  const url = service.env.DATABASE_URL as string
  const recorder = await recordStatements(t, url)
  const sql = openDatabase({ url: recorder.url, name: 'test', connections: 1 })
  t.teardown(() => sql.end())
  const subject = { key: PERSON, pseudonym: 'forgotten-00000000000000000000' }
  const messages = firstFew(
    await findFinished(sql, { accountId, key: PERSON, until: new Date().toISOString(), limit: 10 }),
  )
  const { touched } = await eraseBatch(sql, { accountId, subject, messages })
  t.equal(touched.deliveries, 10)
  for (const statement of recorder.statements()) {
    const plan = await planOf(service.sql, statement)
    const text = statement.text.replace(/\s+/g, ' ').slice(0, 200)
    t.same(wholeScans(plan), [], text)
    const ofAccount = nodesOf(plan).filter(({ node }) => /^\(account_id = [^A]*\)$/.test(node['Index Cond'] ?? ''))
    t.same(
      ofAccount.map(({ node }) => node['Index Name']),
      [],
      text,
    )
  }
})
