import t from 'tap'
import { makeEmptyDatabase } from '../helpers/database.ts'
import { makeService } from '../helpers/service.ts'
import { answered, postrider } from './postrider.ts'

t.test('upgrade --check shows what this version would change, and changes nothing', async (t) => {
  const service = await makeService(t)
  const nothing = await postrider(service.env, 'upgrade', '--check')
  t.equal(nothing.stdout, 'This version changes nothing in the database.\n')

  const missing = ['0010_destinations.sql', '0014_reputation.sql', '0091_versions.sql']
  await service.sql`delete from schema_migrations where name = any(${missing})`
  const { stdout, code } = await postrider(service.env, 'upgrade', '--check')
  t.equal(code, 0)
  for (const name of missing) t.match(stdout, name)
  t.match(stdout, 'before this version starts')
  t.match(await answered(service.env, 'upgrade', '--check'), {
    migrations: missing.map((name) => ({ name, kind: 'expand', waitsFor: [] })),
    unknown: [],
  })
  t.equal((await service.sql`select 1 from schema_migrations where name = any(${missing})`).length, 0)

  await service.sql`insert into schema_migrations (name, digest) values ('9000_of_tomorrow.sql', '')`
  t.match((await postrider(service.env, 'upgrade', '--check')).stdout, 'does not know 9000_of_tomorrow.sql')
  const without = await postrider(service.env, 'upgrade')
  t.equal(without.code, 2)
  t.match(without.stderr, '--check is missing')
})

t.test('of an empty database, upgrade --check says what makes its schema', async (t) => {
  const database = await makeEmptyDatabase()
  t.teardown(() => database.drop())
  const { stdout } = await postrider({ DATABASE_URL: database.url }, 'upgrade', '--check')
  t.equal(stdout, 'The database is empty, so there is nothing to upgrade: run postrider migrate.\n')
})
