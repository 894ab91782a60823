import { readdirSync, statSync } from 'node:fs'
import { request } from 'node:http'
import { connect } from 'node:net'
import { text } from 'node:stream/consumers'
import t from 'tap'
import { mail, newDataDir, type Sandbox, startSandbox } from './sandbox.ts'

/** Asks on loopback, as a browser does that was told that this name is there. */
function ask(sandbox: Sandbox, host: string, path: string, method = 'GET'): Promise<{ status: number; body: string }> {
  const url = new URL(path, sandbox.url)
  return new Promise((resolve, reject) => {
    const asked = request(url, { method, headers: { host } }, (response) => {
      text(response).then((body) => resolve({ status: response.statusCode as number, body }), reject)
    })
    asked.once('error', reject)
    asked.end()
  })
}

const LOOPBACK = [
  'localhost',
  'LOCALHOST:8025',
  'localhost.',
  'inbox.localhost',
  '127.0.0.1',
  '127.9.8.7:1',
  '[::1]:8025',
]
const STRANGERS = [
  'evil.example',
  'evil.example:8025',
  'localhost.evil.example',
  '127.0.0.1.evil.example',
  'notlocalhost',
  'sandbox',
  '127.evil.example',
  'evil.example#localhost',
  'localhost@evil.example',
  'evil.example/localhost',
  '[evil]',
  '::1',
]

t.test('by default the inbox is served under the names and addresses of loopback, and under no other', async (t) => {
  const sandbox = await startSandbox(t)
  const { id } = await sandbox.store(t, mail('Subject: Private'))
  for (const host of LOOPBACK) t.equal((await ask(sandbox, host, '/messages')).status, 200, host)
  for (const host of [...STRANGERS, '192.168.1.5', '[fe80::1]']) {
    for (const path of [
      '/',
      '/messages',
      `/messages/${id}`,
      `/messages/${id}/raw`,
      `/messages/${id}/html`,
      `/view/${id}`,
      '/x',
    ]) {
      const { status, body } = await ask(sandbox, host, path)
      t.equal(status, 421, `${host} ${path}`)
      t.notMatch(body, /Private|desk@|harbor/)
    }
    t.not((await ask(sandbox, host, '/messages', 'DELETE')).status, 200)
  }
  t.match((await ask(sandbox, 'evil.example', '/')).body, /not served under this host name; use localhost/)
  t.equal((await sandbox.list()).length, 1)
})

t.test('a request without a Host, or with an empty one, is not served', async (t) => {
  const sandbox = await startSandbox(t)
  for (const head of ['GET /messages HTTP/1.0', 'GET /messages HTTP/1.1\r\nHost:\r\nConnection: close']) {
    const socket = connect(Number(new URL(sandbox.url).port), '127.0.0.1')
    socket.write(`${head}\r\n\r\n`)
    t.match(await text(socket), /^HTTP\/1\.1 421 /, head)
  }
})

t.test('the names in SANDBOX_NAMES are served, and any address where it listens on all of them', async (t) => {
  const settings = { SANDBOX_HOST: '0.0.0.0', SANDBOX_NAMES: 'sandbox, inbox.example' }
  const sandbox = await startSandbox(t, newDataDir(), settings)
  for (const host of [...LOOPBACK, 'sandbox:8025', 'Inbox.Example', '192.168.1.5:8025', '[fe80::1]', '0.0.0.0'])
    t.equal((await ask(sandbox, host, '/messages')).status, 200, host)
  for (const host of STRANGERS.filter((name) => name !== 'sandbox'))
    t.equal((await ask(sandbox, host, '/messages')).status, 421, host)
})

t.test("what is stored is its owner's to read only", async (t) => {
  const sandbox = await startSandbox(t)
  await sandbox.store(t, mail('Subject: Private'))
  const mode = (path: string): string => (statSync(path).mode & 0o777).toString(8)
  t.equal(mode(sandbox.folder), '700')
  const names = readdirSync(sandbox.folder)
  t.equal(names.length, 2)
  for (const name of names) t.equal(mode(`${sandbox.folder}/${name}`), '600', name)
})
