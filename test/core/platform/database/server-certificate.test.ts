import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startEmbeddedPostgres } from '@postrider/cli/embedded-postgres'
import { connectProblem, openDatabase } from '@postrider/core'
import t, { type Test } from 'tap'
import { makeAuthority } from '../../../delivery/authority.ts'

const authority = await makeAuthority()
const other = await makeAuthority()

/** A server with a certificate for these names. */
async function startServer(t: Test, names: readonly string[]): Promise<string> {
  const folder = mkdtempSync(join(process.env.TEST_FOLDER ?? tmpdir(), 'tls-'))
  const { cert, key } = await authority.issue(names)
  const files = { cert: join(folder, 'server.pem'), key: join(folder, 'server.key') }
  writeFileSync(files.cert, cert)
  writeFileSync(files.key, key, { mode: 0o600 })
  const settings = ['ssl=on', `ssl_cert_file=${files.cert}`, `ssl_key_file=${files.key}`]
  const server = await startEmbeddedPostgres({ dataDir: join(folder, 'data'), settings })
  t.teardown(server.stop)
  return server.url
}

const [address, named] = await Promise.all([startServer(t, ['127.0.0.1']), startServer(t, ['localhost'])])

/** Whether the session is encrypted, or what is wrong. */
async function connect(t: Test, url: string): Promise<unknown> {
  const sql = openDatabase({ url, name: 'test', connections: 1 })
  t.teardown(() => sql.end({ timeout: 1 }))
  return sql`select ssl from pg_stat_ssl where pid = pg_backend_pid()`.then(
    (rows) => rows[0]?.ssl,
    (error: unknown) => connectProblem(error) ?? error,
  )
}

const at = (url: string, host: string, parameters: string): string => `${url.replace('127.0.0.1', host)}?${parameters}`
const full = `sslmode=verify-full&sslrootcert=${authority.file}`

t.test('with verify-full the certificate must name the host of the URL, be it a name or an address', async (t) => {
  t.equal(await connect(t, at(address, '127.0.0.1', full)), true, 'the address, as libpq does')
  t.equal(await connect(t, at(named, 'localhost', full)), true)
  const wrong = { problem: /does not match certificate/, fix: /sslmode=verify-ca/ }
  t.match(await connect(t, at(named, '127.0.0.1', full)), wrong, 'a certificate for localhost is none for an address')
  t.match(await connect(t, at(address, 'localhost', full)), wrong)
})

t.test('with verify-full each of several hosts is compared with its own name', async (t) => {
  const { port } = new URL(named)
  // The first one is refused by it, the second one is not.
  t.equal(await connect(t, at(named, `127.0.0.1:${port},localhost`, full)), true)
})

t.test('with verify-ca, and with require and an authority, any name is good', async (t) => {
  for (const mode of ['verify-ca', 'require'])
    t.equal(await connect(t, at(named, '127.0.0.1', `sslmode=${mode}&sslrootcert=${authority.file}`)), true, mode)
})

t.test('a certificate of an authority that is not named is refused, with what to add', async (t) => {
  for (const mode of ['verify-ca', 'verify-full', 'require']) {
    const parameters = `sslmode=${mode}&sslrootcert=${other.file}`
    t.match(await connect(t, at(address, '127.0.0.1', parameters)), { fix: /add sslrootcert=FILE/ }, mode)
  }
  t.match(await connect(t, at(address, '127.0.0.1', 'sslmode=verify-full')), { fix: /add sslrootcert=FILE/ })
})

t.test('without verification, sessions are encrypted where the URL says so', async (t) => {
  for (const mode of ['require', 'prefer']) t.equal(await connect(t, at(address, '127.0.0.1', `sslmode=${mode}`)), true)
  t.equal(await connect(t, at(address, '127.0.0.1', 'sslmode=disable')), false)
  t.equal(await connect(t, at(address, '127.0.0.1', 'sslmode=require&channel_binding=prefer&gssencmode=disable')), true)
})

t.test('TLS that the server does not offer is named', async (t) => {
  const plain = process.env.TEST_DATABASE_URL as string
  t.match(await connect(t, `${plain}?sslmode=require`), { problem: /demands TLS, and the server offers none/ })
})
