import { connectProblem, openDatabase, readConfig } from '@postrider/core'
import t, { type Test } from 'tap'
import { freePorts } from '../../../helpers/ports.ts'

const server = process.env.TEST_DATABASE_URL as string

function changed(change: (url: URL) => void): string {
  const url = new URL(server)
  change(url)
  return url.href
}

async function problemAt(t: Test, url: string, statement = 'select 1'): Promise<unknown> {
  const sql = openDatabase({ url, name: 'test', connections: 1 })
  t.teardown(() => sql.end({ timeout: 1 }))
  return connectProblem(await sql.unsafe(statement).catch((error: unknown) => error))
}

t.test('what keeps a connection from being made is named, with what to do', async (t) => {
  const [closed] = await freePorts(1)
  const cases: readonly (readonly [url: string, unmet: object])[] = [
    [changed((url) => (url.password = 'wrong')), { problem: /password authentication failed/, fix: /percent-encoded/ }],
    [
      changed((url) => (url.pathname = '/missing')),
      { problem: /"missing" does not exist/, fix: /CREATE DATABASE .* ENCODING 'UTF8'/ },
    ],
    [changed((url) => (url.port = String(closed))), { problem: /ECONNREFUSED/, fix: /start the database/ }],
    [`${server}?sslcrl=/x`, { problem: /unrecognized configuration parameter "sslcrl"/, fix: /remove this parameter/ }],
  ]
  for (const [url, unmet] of cases) t.match(await problemAt(t, url), unmet)
})

t.test('a missing right is named with the statement that grants it', async (t) => {
  t.match(connectProblem({ code: '42501', message: 'permission denied for database mail' }), { fix: /GRANT CONNECT/ })
  t.match(connectProblem({ code: '42501', message: 'permission denied for schema public' }), {
    fix: /GRANT CREATE, USAGE ON SCHEMA/,
  })
  t.match(connectProblem({ code: '53300', message: 'remaining connection slots are reserved' }), {
    fix: /raise max_connections/,
  })
  t.match(connectProblem({ code: '28000', message: 'no pg_hba.conf entry for host, no encryption' }), {
    fix: /sslmode=require/,
  })
})

t.test('the part of a password that was taken for the host is not shown', async (t) => {
  const problem = connectProblem({ code: 'ENOTFOUND', message: 'getaddrinfo ENOTFOUND secretpart' })
  t.match(problem, { fix: /percent-encoded/ })
  t.notMatch(JSON.stringify(problem), 'secretpart')
})

t.test('other errors are none of the connection', async (t) => {
  for (const error of [undefined, new Error('x'), { code: '23505', message: 'duplicate' }])
    t.equal(connectProblem(error), undefined)
})

const REFUSED: Readonly<Record<string, RegExp>> = {
  'postgres://pr:p@ss#w/ord@127.0.0.1/mail': /percent-encoded/,
  'postgres://pr:p@ss@127.0.0.1/mail': /percent-encoded/,
  'postgres://pr@127.0.0.1/mail?sslmode=verify': /sslmode=verify: use disable/,
  'postgres://pr@127.0.0.1/mail?sslmode=verify-full&sslrootcert=/nowhere.pem':
    /sslrootcert=\/nowhere\.pem, which cannot be read \(ENOENT\)/,
  'postgres://pr@127.0.0.1/mail?sslrootcert=/nowhere.pem': /without sslmode/,
  'postgres://pr@127.0.0.1/mail?sslmode=require&sslcert=/x': /both sslcert and sslkey/,
  'postgres://pr@127.0.0.1/mail?sslmode=require&channel_binding=require':
    /channel_binding=require, which is not supported/,
}

for (const [url, problem] of Object.entries(REFUSED)) {
  t.test(`${url} is refused, and the password is not shown`, async (t) => {
    for (const name of ['DATABASE_URL', 'DATABASE_READ_URL']) {
      const error = t.throws(() => readConfig({ [name]: url }), { message: problem }) as Error
      t.match(error.message, name)
      t.notMatch(error.message, 'p@ss')
    }
  })
}
