import { generateKeyPairSync } from 'node:crypto'
import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { DomainWithRecords } from '@postrider/core'
import t from 'tap'
import { startDns } from '../helpers/dns.ts'
import { makeService } from '../helpers/service.ts'
import { answered, postrider } from './postrider.ts'

const dns = await startDns(t, {})
const service = await makeService(t, { DNS_SERVERS: dns.address })
const { env } = service
const { accountId } = await service.makeSender()
const account = String(accountId)

const keysOf = ({ dns: records }: DomainWithRecords) =>
  records.flatMap(({ algorithm, key }) => (algorithm === 'ed25519' ? [key] : []))

t.test('domain add --ed25519 shows the record of the second key, and domain check what is missing', async (t) => {
  const { stdout } = await postrider(
    env,
    'domain',
    'add',
    '--account',
    account,
    'quay.example',
    '--ed25519',
    '--active',
  )
  const [, host = '', value = ''] =
    /^dkim +TXT +(pr1-ed-[a-z0-9]{6}\.\S+) +(v=DKIM1; k=ed25519; p=\S+)$/m.exec(stdout) ?? []
  t.match(host, /\._domainkey\.quay\.example$/)
  const line = new RegExp(`^dkim +${host.replaceAll('.', '\\.')} +(.*)$`, 'm')
  const checked = async () => line.exec((await postrider(env, 'domain', 'check', 'quay.example')).stdout)?.[1]?.trim()
  t.match(await checked(), /^missing \(optional\) +mail has no Ed25519 signature until this record is found$/)
  dns.zones[host] = { txt: [value] }
  t.equal(await checked(), 'right (optional)')
  delete dns.zones[host]
  t.match(await checked(), /^missing \(optional\) +mail has no Ed25519 signature/)
})

t.test('domain ed25519 turns the second signature on and off', async (t) => {
  const added = await answered<DomainWithRecords>(env, 'domain', 'add', '--account', account, 'pier.example')
  t.equal(added.ed25519, false)
  t.strictSame(keysOf(added), [])
  const on = await answered<DomainWithRecords>(env, 'domain', 'ed25519', 'pier.example', 'on')
  t.equal(on.ed25519, true)
  t.strictSame(keysOf(on), ['next'])
  t.match((await postrider(env, 'domain', 'dns', 'pier.example')).stdout, /^dkim +TXT +pr1-ed-.* k=ed25519; p=/m)
  const off = await answered<DomainWithRecords>(env, 'domain', 'ed25519', 'pier.example', 'off', '--account', account)
  t.equal(off.ed25519, false)
  t.strictSame(keysOf(off), [])
  t.match(await postrider(env, 'domain', 'ed25519', 'pier.example', 'maybe'), { code: 2, stderr: /on\|off/ })
  t.match(await postrider(env, 'domain', 'ed25519', 'nowhere.example', 'on'), { code: 1, stderr: /not found/ })
})

t.test('domain set-key takes an Ed25519 key', async (t) => {
  await postrider(env, 'domain', 'add', '--account', account, 'mole.example')
  const file = join(mkdtempSync(join(process.env.TEST_FOLDER ?? tmpdir(), 'key-')), 'own.pem')
  writeFileSync(file, generateKeyPairSync('ed25519').privateKey.export({ type: 'pkcs8', format: 'pem' }))
  const { stdout } = await postrider(env, 'domain', 'set-key', 'mole.example', '--selector', 'own', '--file', file)
  t.match(stdout, /^dkim +TXT +own\._domainkey\.mole\.example +v=DKIM1; k=ed25519; p=/m)
})
