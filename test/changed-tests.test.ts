import { globSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import t from 'tap'
import { changedTests } from './helpers/changed-tests.ts'

const ROOT = fileURLToPath(new URL('..', import.meta.url))
const ALL = globSync('test/**/*.test.ts', { cwd: ROOT }).sort()
const OF_ROOT = ALL.filter((file) => file.split('/').length === 2)
const touchedBy = (...changed: string[]) => changedTests(ROOT, ALL, changed)

t.test('a changed test file runs, and otherwise only the tests of the repository as a whole', async (t) => {
  t.strictSame(touchedBy('test/relay/limits.test.ts'), [...OF_ROOT, 'test/relay/limits.test.ts'].sort())
})

t.test('a changed helper runs the files that import it, directly or not', async (t) => {
  const touched = touchedBy('test/helpers/smtp-client.ts')
  t.ok(touched.includes('test/relay/limits.test.ts'))
  t.notOk(touched.includes('test/api/openapi.test.ts'))
})

t.test('a change to core runs the tests of every package', async (t) => {
  const touched = touchedBy('packages/core/src/platform/errors.ts')
  for (const name of ['api', 'cli', 'core', 'delivery', 'relay'])
    t.ok(
      touched.some((file) => file.startsWith(`test/${name}/`)),
      name,
    )
})

t.test('a change to the relay runs what opens a relay or starts its process, and nothing else', async (t) => {
  const touched = touchedBy('packages/relay/src/session/session.ts')
  t.ok(touched.includes('test/relay/limits.test.ts'), 'opens one')
  t.ok(touched.includes('test/journeys/crashes.test.ts'), 'starts its process')
  t.ok(touched.includes('test/cli/up.test.ts'), 'starts it by a command')
  t.notOk(touched.includes('test/api/v3/keys.test.ts'))
})

t.test('a change to a part of the API runs what uses that part, and nothing else', async (t) => {
  for (const [file, user, other] of [
    ['packages/api/src/v3/index.ts', 'test/api/v3/keys.test.ts', 'test/api/tracking/clicks.test.ts'],
    ['packages/dashboard/src/table.ts', 'test/dashboard/keys.test.ts', 'test/api/v3/keys.test.ts'],
    ['packages/sandbox/src/server.ts', 'test/sandbox/http.test.ts', 'test/relay/limits.test.ts'],
  ] as const) {
    const touched = touchedBy(file)
    t.ok(touched.includes(user), `${file}: ${user}`)
    t.notOk(touched.includes(other), `${file}: ${other}`)
  }
})

t.test('a file that only a thread or a process is started with counts as imported', async (t) => {
  t.ok(touchedBy('packages/delivery/src/worker.ts').includes('test/delivery/sites.test.ts'))
  t.ok(
    touchedBy('packages/core/src/platform/concurrency/thread-orders.ts').includes(
      'test/core/platform/database/migrate.test.ts',
    ),
  )
})

t.test('a change whose readers cannot be told runs every test', async (t) => {
  for (const file of ['sql/0001_begin.sql', 'pnpm-lock.yaml', 'packages/api/package.json', 'test/run.ts'])
    t.same(touchedBy(file), ALL, file)
})

t.test('a changed page runs the tests of the repository as a whole', async (t) => {
  t.strictSame(touchedBy('docs/architecture.md'), OF_ROOT)
})
