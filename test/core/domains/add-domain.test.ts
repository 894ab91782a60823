import { createPublicKey } from 'node:crypto'
import { createCore, createLog, readConfig } from '@postrider/core'
import t from 'tap'
import { isInTime } from '../../helpers/pace.ts'
import { makeService } from '../../helpers/service.ts'
import { until } from '../../helpers/until.ts'
import { refused } from '../refused.ts'

const service = await makeService(t)
const { domains, accounts } = service.core
const account = await accounts.create('shipyard')

t.test('add answers a pending domain in its A-label form with the DNS records to set', async (t) => {
  const domain = await domains.add({ accountId: account.id, name: ' Werft.M\u00fcnchen.example ' })
  t.match(domain, {
    accountId: account.id,
    name: 'werft.xn--mnchen-3ya.example',
    state: 'pending',
    returnPathHost: null,
  })
  t.strictSame(
    domain.dns.map(({ purpose, type, host }) => [purpose, type, host.replace(/^pr1-[a-z0-9]{6}\./, 'pr1-….')]),
    [
      ['dkim', 'TXT', 'pr1-…._domainkey.werft.xn--mnchen-3ya.example'],
      ['spf', 'TXT', 'werft.xn--mnchen-3ya.example'],
      ['returnPath', 'CNAME', 'pr-bounces.werft.xn--mnchen-3ya.example'],
      ['dmarc', 'TXT', '_dmarc.werft.xn--mnchen-3ya.example'],
    ],
  )
  t.equal(domain.dns[1]?.value, 'v=spf1 include:relay.test ~all')
  t.equal(domain.dns[2]?.value, 'relay.test')
  t.match(domain.dns[3]?.value, /^v=DMARC1; p=none/)
})

t.test('the DKIM record of a new domain publishes the key that signs for it, RSA with 2048 bits', async (t) => {
  const domain = await domains.add({ accountId: account.id, name: 'dkim.example' })
  const published = /^v=DKIM1; k=rsa; p=([A-Za-z0-9+/]+=*)$/.exec(domain.dns[0]?.value ?? '')?.[1] as string
  const publicKey = createPublicKey({ key: Buffer.from(published, 'base64'), format: 'der', type: 'spki' })
  t.match(publicKey.asymmetricKeyDetails, { modulusLength: 2048 })
  const signer = await domains.signer(domain.id)
  t.match(signer, { domain: 'dkim.example', selector: /^pr1-[a-z0-9]{6}$/ })
  t.ok(createPublicKey(signer?.privateKey as never).equals(publicKey))
})

t.test('the database holds the private key of a domain only sealed', async (t) => {
  const domain = await domains.add({ accountId: account.id, name: 'sealed.example' })
  const [row] = await service.sql`select private_key as "privateKey" from dkim_keys where domain_id = ${domain.id}`
  const signer = await domains.signer(domain.id)
  const plain = signer?.privateKey.export({ type: 'pkcs8', format: 'der' }) as Buffer
  const stored = row?.privateKey as Buffer
  t.ok(stored.length > plain.length, 'with nonce and tag')
  t.equal(stored.indexOf(plain.subarray(40, 80)), -1)
})

for (const name of [
  '',
  ' ',
  'example',
  '-bad-',
  'no domain',
  'ship..example',
  '127.0.0.1',
  'ship.example:25',
  'a@ship.example',
]) {
  t.test(`add answers domainInvalid for ${JSON.stringify(name)}`, async (t) => {
    t.equal(await refused(domains.add({ accountId: account.id, name })), 'domainInvalid')
  })
}

t.test('add answers domainTaken for a domain that the account has in another spelling', async (t) => {
  await domains.add({ accountId: account.id, name: 'taken.example' })
  for (const name of ['taken.example', 'TAKEN.example', 'taken\u3002example']) {
    t.equal(await refused(domains.add({ accountId: account.id, name })), 'domainTaken')
  }
})

t.test('the operator can give a domain to one account only, and names the one that is meant', async (t) => {
  const other = await accounts.create('another yard')
  const name = 'one-of-two.example'
  await domains.add({ accountId: account.id, name })
  await domains.add({ accountId: other.id, name })
  t.equal(await refused(domains.show(name)), 'parameterInvalid')
  t.equal(await refused(domains.activate(name)), 'parameterInvalid')
  t.match(await domains.show(name, other.id), { accountId: other.id, state: 'pending' })
  t.match(await domains.activate(name, { accountId: other.id }), { accountId: other.id, state: /^active$/ })
  t.match(await domains.show(name), { accountId: other.id })
  t.equal(await refused(domains.activate(name, { accountId: account.id })), 'domainTaken')
  t.equal(await refused(domains.add({ accountId: 4711, name, state: 'active' })), 'domainTaken')
})

t.test('of four equal additions at once one is taken and three answer domainTaken', async (t) => {
  const tries = Array.from({ length: 4 }, () => domains.add({ accountId: account.id, name: 'race.example' }))
  const settled = await Promise.allSettled(tries)
  t.equal(settled.filter(({ status }) => status === 'fulfilled').length, 1)
  for (const outcome of settled)
    if (outcome.status === 'rejected') t.match(outcome.reason, { errorName: 'domainTaken' })
})

t.test('add answers parameterInvalid for an account that does not exist, and leaves nothing behind', async (t) => {
  t.equal(await refused(domains.add({ accountId: 4711, name: 'orphan.example' })), 'parameterInvalid')
  t.equal(await refused(domains.show('orphan.example')), 'domainInvalid')
})

t.test('domains that are looked up together are each found by their own name', async (t) => {
  const names = ['sloop.example', 'ketch.example', 'paper.example', 'yawl.example']
  for (const name of names)
    await domains.add({ accountId: account.id, name, state: name.startsWith('p') ? 'pending' : 'active' })
  const found = await Promise.all([...names, 'nobody.example'].map((name) => domains.findActive(account.id, name)))
  t.strictSame(
    found.map((domain) => domain?.name),
    ['sloop.example', 'ketch.example', undefined, 'yawl.example', undefined],
  )
})

t.test('findActive answers a domain only when it is active and only to its account', async (t) => {
  const other = await accounts.create('third yard')
  await domains.add({ accountId: account.id, name: 'pending.example' })
  t.equal(await domains.findActive(account.id, 'pending.example'), null)
  t.equal(await domains.stateOf(account.id, 'pending.example'), 'pending')
  t.equal(await domains.stateOf(other.id, 'pending.example'), null)
  const active = await domains.activate('PENDING.example')
  t.equal(active.state, 'active')
  t.match(await domains.findActive(account.id, 'pending.example'), { name: 'pending.example' })
  t.equal(await domains.stateOf(account.id, 'pending.example'), 'active', 'at once in the process that changed it')
  t.equal(await domains.findActive(other.id, 'pending.example'), null)
  t.equal(await domains.findActive(account.id, 'unknown.example'), null)
})

t.test('what one process activates another process sees within 5 s', async (t) => {
  await domains.add({ accountId: account.id, name: 'soon.example' })
  const config = readConfig(service.env)
  const other = createCore({ sql: service.sql, config, log: createLog('test', 'silent') })
  t.teardown(() => other.readiness.close())
  t.equal(await other.domains.findActive(account.id, 'soon.example'), null)
  await domains.activate('soon.example')
  const activatedAt = performance.now()
  await until('it to be seen', async () => (await other.domains.findActive(account.id, 'soon.example')) !== null)
  t.ok(isInTime(activatedAt, 5000))
})

t.test('activate and show return domainInvalid for a domain that was never added', async (t) => {
  for (const name of ['nobody.example', 'not a domain', '']) {
    t.equal(await refused(domains.activate(name)), 'domainInvalid')
    t.equal(await refused(domains.show(name)), 'domainInvalid')
  }
})
