import { createPublicKey, generateKeyPairSync } from 'node:crypto'
import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { dkimVerify } from 'mailauth/lib/dkim/verify.js'
import t, { type Test } from 'tap'
import { postrider } from '../cli/postrider.ts'
import { startDns } from '../helpers/dns.ts'
import { startProcess } from '../helpers/processes.ts'
import { makeService } from '../helpers/service.ts'
import { startSink } from '../helpers/sink.ts'
import { startOutboxProcess } from './outbox.ts'

const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 3072 })
const folder = mkdtempSync(join(process.env.TEST_FOLDER ?? tmpdir(), 'key-'))
const KEY_FILE = join(folder, 'operator.pem')
writeFileSync(KEY_FILE, privateKey.export({ type: 'pkcs8', format: 'pem' }))
const RECORD = `v=DKIM1; k=rsa; p=${createPublicKey(privateKey).export({ type: 'spki', format: 'der' }).toString('base64')}`

async function start(own: Test, settings: Record<string, string>) {
  const sink = await startSink(own)
  const outbox = await startOutboxProcess(own, { DELIVERY: `smtp://127.0.0.1:${sink.port}`, ...settings })
  const { core } = outbox.service
  /** The results of another's verifier, in the order of the fields. */
  async function verify(data: Buffer, records: Readonly<Record<string, string>> = {}) {
    const domains = await Promise.all(
      [outbox.sender.domain, 'operator.example'].map((name) => core.domains.show(name).catch(() => undefined)),
    )
    const published = Object.fromEntries(
      domains.flatMap((found) => found?.dns ?? []).map(({ host, value }) => [host, value]),
    )
    const { results } = await dkimVerify(data, {
      resolver: async (name, type) => {
        const value = { ...published, ...records }[name]
        if (type !== 'TXT' || !value) throw Object.assign(new Error('no such record'), { code: 'ENOTFOUND' })
        return [[value]]
      },
    })
    return results.map(({ signingDomain, status }) => `${status.result} ${signingDomain}`)
  }
  async function delivered(extra: Record<string, unknown> = {}): Promise<Buffer> {
    const id = await outbox.send('a@harbor.example', extra)
    await outbox.inState(id, 'delivered')
    return sink.messages.find(({ data }) => data.includes(id))?.data ?? Buffer.alloc(0)
  }
  return { ...outbox, sink, verify, delivered }
}

t.test('with a key file, both the sending domain and the operator sign, also relayed and large mail', async (t) => {
  const { sender, sink, openRelay, inState, verify, delivered } = await start(t, {
    OPERATOR_DKIM_DOMAIN: 'Operator.example',
    OPERATOR_DKIM_SELECTOR: 'op1',
    OPERATOR_DKIM_KEY: KEY_FILE,
  })
  const records = { 'op1._domainkey.operator.example': RECORD }
  const both = ['pass operator.example', `pass ${sender.domain}`]
  const message = await delivered()
  t.strictSame(await verify(message, records), both)
  const hashes = [...message.toString().matchAll(/ bh=([^;]+);/g)].map(([, hash]) => hash)
  t.equal(hashes.length, 2)
  t.equal(hashes[0], hashes[1])
  t.strictSame(await verify(await delivered({ content: `<p>${'large '.repeat(100_000)}</p>` }), records), both)
  const relay = await openRelay(t)
  const relayed = `From: <desk@${sender.domain}>\r\nTo: a@harbor.example\r\nSubject: Odd \t\r\n  folds\r\n\r\none \t\r\n\r\n\r\n`
  const id = await relay.submit(`desk@${sender.domain}`, 'a@harbor.example', relayed)
  await inState(id, 'delivered')
  t.strictSame(await verify(sink.messages.at(-1)?.data ?? Buffer.alloc(0), records), both)
  const announced = sink.commands.flatMap((command) => /^MAIL .* SIZE=(\d+)/.exec(command)?.[1] ?? []).map(Number)
  t.strictSame(
    announced,
    sink.messages.map(({ data }) => data.length),
    'SIZE counts both, of keys of different lengths',
  )
})

t.test('without a key file, the active sending domain of that name signs; its own mail is signed once', async (t) => {
  const { service, sender, verify, delivered } = await start(t, { OPERATOR_DKIM_DOMAIN: 'operator.example' })
  t.strictSame(await verify(await delivered()), [`pass ${sender.domain}`], 'there is no such domain yet')
  const second = await start(t, { OPERATOR_DKIM_DOMAIN: 'operator.example' })
  await second.service.giveKey('operator.example')
  const account = { accountId: second.sender.accountId, state: 'active' } as const
  await second.service.core.domains.add({ ...account, name: 'operator.example' })
  // A worker that starts now knows it.
  second.worker.kill()
  await second.worker.exited
  await startProcess(t, 'delivery', second.service.env)
  t.strictSame(await second.verify(await second.delivered()), ['pass operator.example', `pass ${second.sender.domain}`])
  const own = await second.delivered({ from: { fromEmail: 'desk@operator.example' } })
  t.strictSame(await second.verify(own), ['pass operator.example'])
  t.ok(service)
})

t.test('a worker does not start with a file that has no RSA key', async (t) => {
  const file = join(folder, 'none.pem')
  writeFileSync(file, 'not a key')
  const settings = { OPERATOR_DKIM_DOMAIN: 'operator.example', OPERATOR_DKIM_SELECTOR: 'op1', OPERATOR_DKIM_KEY: file }
  const service = await makeService(t, settings)
  await t.rejects(startProcess(t, 'delivery', service.env), /before it worked/)
})

t.test("postrider dns shows and checks the record of the operator's key", async (t) => {
  const dns = await startDns(t, {})
  const { env } = await makeService(t, {
    DELIVERY: 'mx',
    DNS_SERVERS: dns.address,
    BLOCK_LISTS: 'none',
    OPERATOR_DKIM_DOMAIN: 'operator.example',
    OPERATOR_DKIM_SELECTOR: 'op1',
    OPERATOR_DKIM_KEY: KEY_FILE,
  })
  t.match(
    (await postrider(env, 'dns')).stdout,
    /^DKIM of the operator +TXT +op1\._domainkey\.operator\.example .* missing/m,
  )
  dns.zones['op1._domainkey.operator.example'] = { txt: [RECORD] }
  t.match((await postrider(env, 'dns')).stdout, /^DKIM of the operator .* right$/m)
})
