import t, { type Test } from 'tap'
import { postrider } from '../cli/postrider.ts'
import { passTime } from '../helpers/pass-time.ts'
import { makeService } from '../helpers/service.ts'
import { SmtpClient } from '../helpers/smtp-client.ts'
import { mail, shown } from './session.ts'

const service = await makeService(t)
await service.openRelay()
const { core, config, env } = service
const [sender, other] = [await service.makeSender(), await service.makeSender()]
const keyOf = async ({ accountId }: typeof sender) =>
  (await core.auth.createKey({ accountId, scopes: ['send'] })).key.id
const [own, others] = [await keyOf(sender), await keyOf(other)]

async function open(t: Test, from: string, { tls = false } = {}): Promise<SmtpClient> {
  const client = await SmtpClient.connect(t, { port: tls ? config.relayTlsPort : config.relayPort, tls, from })
  await client.reply()
  await client.command('EHLO client.test')
  return client
}

/** The lists of processes are at most this old. */
const grow = (): void => passTime(3500)

t.test('a client of a listed network sends without AUTH as its key, and the clients of others do not', async (t) => {
  await core.relayNetworks.add({ network: '127.8.0.0/24', keyId: own, requiresTls: false })
  await core.relayNetworks.add({ network: '127.9.0.7', keyId: others, requiresTls: false })
  grow()
  for (const [from, account] of [
    ['127.8.0.1', sender],
    ['127.8.0.255', sender],
    ['127.9.0.7', other],
  ] as const) {
    const client = await open(t, from)
    const reply = await client.submit(`desk@${account.domain}`, 'lena@harbor.example', mail(account))
    t.match(await shown(service, reply), { accountId: account.accountId, door: 'smtp' }, from)
  }
  for (const from of ['127.8.1.1', '127.9.0.8'])
    t.match(await (await open(t, from)).command(`MAIL FROM:<desk@${sender.domain}>`), /^530 5\.7\.0 /, from)
})

t.test('it sends from domains of its own account only, and with a password as another', async (t) => {
  const client = await open(t, '127.8.0.2', { tls: true })
  t.match(await client.command(`MAIL FROM:<desk@${other.domain}>`), /^550 5\.7\.1 /)
  await client.logIn(other.apiKey)
  const reply = await client.submit(`desk@${other.domain}`, 'lena@harbor.example', mail(other))
  t.match(await shown(service, reply), { accountId: other.accountId })
})

t.test('a network needs TLS by default, and after STARTTLS still no password', async (t) => {
  await core.relayNetworks.add({ network: '127.10.0.0/16', keyId: own, requiresTls: true })
  grow()
  const client = await open(t, '127.10.3.4')
  t.match(await client.command(`MAIL FROM:<desk@${sender.domain}>`), /^530 5\.7\.0 Must issue a STARTTLS/)
  await client.startTls()
  await client.command('EHLO client.test')
  const reply = await client.submit(`desk@${sender.domain}`, 'lena@harbor.example', mail(sender))
  t.match(await shown(service, reply), { accountId: sender.accountId })
})

t.test('what the key may not, the network may not either, and neither when the key is revoked', async (t) => {
  const { key } = await core.auth.createKey({
    accountId: sender.accountId,
    scopes: ['send'],
    networks: ['192.0.2.0/24'],
  })
  await core.relayNetworks.add({ network: '127.11.0.1', keyId: key.id, requiresTls: false })
  grow()
  const client = await open(t, '127.11.0.1')
  const mailFrom = () => client.command(`MAIL FROM:<desk@${sender.domain}>`)
  t.match(await mailFrom(), /^5\d\d .*(address|IP)/i, 'addresses of the key')
  await core.auth.updateKey(key.id, { networks: [], scopes: ['events'] })
  grow()
  t.match(await mailFrom(), /^550 5\.7\.1 /, 'scopes of the key')
  await core.auth.updateKey(key.id, { scopes: ['send'] })
  grow()
  t.match(await mailFrom(), /^250 /)
  await client.command('RSET')
  await core.auth.revokeKey(key.id)
  grow()
  t.match(await mailFrom(), /^535 /)
})

t.test('when the key is rotated, the network has its successor', async (t) => {
  const { key } = await core.auth.createKey({ accountId: sender.accountId, scopes: ['send'] })
  await core.relayNetworks.add({ network: '127.13.0.1', keyId: key.id, requiresTls: false })
  const { key: next } = await core.auth.rotateKey(key.id, 0)
  grow()
  t.match(await (await open(t, '127.13.0.1')).command(`MAIL FROM:<desk@${sender.domain}>`), /^250 /)
  t.match(
    (await core.relayNetworks.list()).find(({ network }) => network === '127.13.0.1'),
    { keyId: next.id, isValid: true },
  )
})

t.test('a network that is removed needs a password again', async (t) => {
  await core.relayNetworks.add({ network: '127.12.0.1', keyId: own, requiresTls: false })
  grow()
  const from = `MAIL FROM:<desk@${sender.domain}>`
  t.match(await (await open(t, '127.12.0.1')).command(from), /^250 /)
  await core.relayNetworks.remove('127.12.0.1')
  grow()
  t.match(await (await open(t, '127.12.0.1')).command(from), /^530 /)
})

t.test('commands list, add and remove networks, and say what is wrong', async (t) => {
  const run = (...args: string[]) => postrider(env, 'relay-network', ...args)
  t.match(await run('add', '198.51.100.0/28', '--key', String(own)), { code: 0 })
  t.match(await run('list'), {
    stdout: new RegExp(`198\\.51\\.100\\.0/28 +${own} +${sender.accountId} +required +valid`),
  })
  const wrong: [string[], RegExp][] = [
    [['198.51.100.4', '--key', String(own)], /network.*overlaps/],
    [['198.50.0.0/15', '--key', String(own)], /network.*overlaps/],
    [['203.0.113.9/24', '--key', String(own)], /network.*bits to the right/],
    [['203.0.113.300', '--key', String(own)], /not a valid IP address/],
    [['0.0.0.0/0', '--key', String(own)], /network.*prefix of at least 8/],
    [['2001:db8::/16', '--key', String(own)], /network.*prefix of at least 29/],
    [['::ffff:203.0.113.0/120', '--key', String(own)], /network.*in the form of IPv6/],
    [['::/29', '--key', String(own)], /network.*in the form of IPv6/],
    [['203.0.113.9', '--key', '99999'], /key.*not the number of a valid key/],
  ]
  for (const [args, message] of wrong) t.match(await run('add', ...args), { code: 1, stderr: message }, args.join(' '))
  t.match(await run('add', '203.0.113.9'), { code: 2, stderr: /missing option --key/ })
  t.match(await run('remove', '198.51.100.1', '--yes'), { code: 1, stderr: /network.*is not listed/ })
  t.match(await run('remove', '198.51.100.0/28', '--yes'), { code: 0 })
  t.notMatch((await run('list')).stdout, '198.51.100.0')
  const log = (await core.audit.list(0, { after: 0, limit: 1000 })).filter(({ object }) => object === 'relay networks')
  t.match(log.slice(-2), [
    { action: 'relay-network.add', after: { network: '198.51.100.0/28', key: own, tls: true } },
    { action: 'relay-network.remove', before: { network: '198.51.100.0/28' } },
  ])
})

t.test('while the list cannot be read, clients that connect are asked to try again later', async (t) => {
  const fresh = await makeService(t)
  await fresh.openRelay()
  await fresh.sql`alter table relay_networks rename to relay_networks_gone`
  const client = await SmtpClient.connect(t, { port: fresh.config.relayPort })
  t.match(await client.reply(), /^421 4\.3\.2 /)
})
