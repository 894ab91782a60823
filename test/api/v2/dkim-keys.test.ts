import { createPrivateKey, createPublicKey, generateKeyPairSync } from 'node:crypto'
import t from 'tap'
import { errorText } from '../call.ts'
import { type ShownDomain, type ShownRecord, startDomains, untagged } from './domain.ts'

const test = await startDomains(t)
const { service, post, postForm, done, newName } = test
const { apiKey, accountId } = await service.makeSender()

function pem(bits: number, type: 'pkcs1' | 'pkcs8' = 'pkcs8'): string {
  return String(generateKeyPairSync('rsa', { modulusLength: bits }).privateKey.export({ type, format: 'pem' }))
}

const KEY = pem(2048)

function spki(privateKey: string): string {
  return createPublicKey(createPrivateKey(privateKey)).export({ type: 'spki', format: 'der' }).toString('base64')
}

function keys({ dns }: ShownDomain): ShownRecord[] {
  return dns.filter(({ purpose }) => purpose === 'dkim')
}

function roles(domain: ShownDomain): [host: string | undefined, role: string | undefined][] {
  return keys(domain).map(({ host, key }) => [untagged(host.split('.')[0]), key])
}

/** An active domain whose records are seen. */
async function activeDomain(): Promise<ShownDomain> {
  const domain = newName()
  test.publish(await done(apiKey, 'domain', { domain }))
  return done(apiKey, 'domain/verify', { domain })
}

async function signingSelector({ domain }: ShownDomain): Promise<string | undefined> {
  const [row] = await service.sql`select id from domains where name = ${domain} and deleted_at is null`
  return (await service.core.domains.signer(row?.id as number))?.selector
}

t.test(
  'rotateDkim adds a next key, which signs only once its record is seen, and the old record stays wanted',
  async (t) => {
    for (const send of [post, postForm]) {
      const added = await activeDomain()
      const { domain } = added
      const rotated = (await send(apiKey, 'domain/rotateDkim', { domain })).json?.data as ShownDomain
      t.strictSame(roles(rotated), [
        ['pr1', 'active'],
        ['pr2', 'next'],
      ])
      t.equal(rotated.status, 'active')
      t.notOk(keys(rotated)[1]?.required, 'the domain stays active without it')
      t.strictSame(roles(await done(apiKey, 'domain/verify', { domain })), roles(rotated), 'its record is not there')
      t.equal(untagged(await signingSelector(added)), 'pr1')

      test.publish(rotated, 'dkim')
      const promoted = await done(apiKey, 'domain/verify', { domain })
      t.strictSame(roles(promoted), [
        ['pr2', 'active'],
        ['pr1', 'retiring'],
      ])
      t.equal(untagged(await signingSelector(added)), 'pr2')
      t.match(promoted, { status: 'active', brokenSince: null })
      const [old] = await service.sql`
      select octet_length(k.private_key) as octets from dkim_keys k join domains d on d.id = k.domain_id
       where d.name = ${domain} and k.state = 'retiring'`
      t.equal(old?.octets, 0, 'the private half of the old key is gone')
    }
  },
)

t.test('rotateDkim while a key waits answers that key, also when called four times at once', async (t) => {
  const { domain } = await activeDomain()
  const all = await Promise.all([1, 2, 3, 4].map(() => done(apiKey, 'domain/rotateDkim', { domain })))
  const values = new Set(all.map((one) => keys(one)[1]?.value))
  t.equal(values.size, 1)
  t.strictSame(roles(await done(apiKey, 'domain/rotateDkim', { domain })), [
    ['pr1', 'active'],
    ['pr2', 'next'],
  ])
})

t.test('setDkimKey takes an own key as the next one, in both PEM forms, JSON and form', async (t) => {
  for (const send of [post, postForm]) {
    for (const privateKey of [pem(2048, 'pkcs1'), KEY, KEY.replaceAll('\n', '\\n'), KEY.replaceAll('\n', '\r\n')]) {
      const added = await activeDomain()
      const { domain } = added
      const answer = await send(apiKey, 'domain/dkimKey', { domain, selector: 'Own.S1', privateKey })
      const data = answer.json?.data as ShownDomain & { warnings: string[] }
      t.strictSame(data.warnings, [])
      t.match(keys(data)[1], { host: `own.s1._domainkey.${domain}`, key: 'next' })
      t.equal(keys(data)[1]?.value, `v=DKIM1; k=rsa; p=${spki(privateKey.replaceAll('\\n', '\n'))}`)
      t.notMatch(answer.text, /PRIVATE/)
      test.publish(data, 'dkim')
      await done(apiKey, 'domain/verify', { domain })
      t.equal(await signingSelector(added), 'own.s1')
    }
  }
})

t.test('an own key is stored sealed and is not in the audit log', async (t) => {
  const { domain } = await activeDomain()
  await done(apiKey, 'domain/dkimKey', { domain, selector: 'own', privateKey: KEY })
  const plain = createPrivateKey(KEY).export({ type: 'pkcs8', format: 'der' }).subarray(40, 80)
  const rows = await service.sql`select private_key as "privateKey" from dkim_keys where selector = 'own'`
  for (const { privateKey } of rows) t.equal((privateKey as Buffer).indexOf(plain), -1)
  const log = JSON.stringify(await service.core.audit.list(accountId, { after: 0, limit: 1000 }))
  t.match(log, /"action":"domain.dkimKey"/)
  t.notMatch(log, /PRIVATE|MII/)
})

t.test('the same own key again changes nothing, another one takes the place of one that waits', async (t) => {
  const { domain } = await activeDomain()
  const set = (selector: string, privateKey: string) => done(apiKey, 'domain/dkimKey', { domain, selector, privateKey })
  const first = await set('own', KEY)
  const used = keys(first)[0]?.host.split('.')[0] as string
  t.strictSame(keys(await set('own', KEY)), keys(first))
  t.strictSame(roles(await set('other', pem(2048))), [
    ['pr1', 'active'],
    ['other', 'next'],
  ])
  t.match(
    errorText(await post(apiKey, 'domain/dkimKey', { domain, selector: 'own', privateKey: KEY })),
    /^Parameter \[selector\] is invalid: was already used by this domain/,
  )
  t.match(
    errorText(await post(apiKey, 'domain/dkimKey', { domain, selector: used.toUpperCase(), privateKey: KEY })),
    /selector/,
  )
})

t.test('a key of 1024 bits is taken with a warning', async (t) => {
  const { domain } = await activeDomain()
  const answer = await done<{ warnings: string[] }>(apiKey, 'domain/dkimKey', {
    domain,
    selector: 's',
    privateKey: pem(1024),
  })
  t.match(answer.warnings, [/1024 bits/])
})

const ec = generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey.export({ type: 'pkcs8', format: 'pem' })
const ed448 = generateKeyPairSync('ed448').privateKey.export({ type: 'pkcs8', format: 'pem' })
const pss = generateKeyPairSync('rsa-pss', { modulusLength: 2048 }).privateKey.export({ type: 'pkcs8', format: 'pem' })
const encrypted = createPrivateKey(KEY).export({ type: 'pkcs8', format: 'pem', cipher: 'aes-256-cbc', passphrase: 'x' })
const publicKey = createPublicKey(KEY).export({ type: 'spki', format: 'pem' })
const BAD: Readonly<Record<string, string>> = {
  'of 768 bits': pem(768),
  'of 5120 bits': pem(5120),
  'of an elliptic curve': String(ec),
  'that is Ed448': String(ed448),
  'that is RSA-PSS': String(pss),
  'that is encrypted': String(encrypted),
  'that is public': String(publicKey),
  'that is cut': KEY.slice(0, 700),
  'that is damaged': KEY.replace(/(.{400})....(.*)/s, '$1AAAA$2'),
  'that is no PEM': 'secret',
  'that is blank': '',
  'that is huge': `-----BEGIN PRIVATE KEY-----\n${'A'.repeat(100_000)}`,
}
t.test('setDkimKey refuses', async (t) => {
  const { domain } = await activeDomain()
  for (const [what, privateKey] of Object.entries(BAD)) {
    for (const send of [post, postForm]) {
      const answer = await send(apiKey, 'domain/dkimKey', { domain, selector: 's', privateKey })
      t.match(answer, { status: 400, json: { error_info: { error_code: 113 } } }, `a key ${what}`)
      t.match(errorText(answer), /^Parameter \[privateKey\] is invalid/, what)
    }
  }
  for (const selector of [
    '',
    '-',
    'a b',
    'a..b',
    'a_b',
    'a;b',
    '\u00fc',
    'x'.repeat(64),
    'a.'.repeat(120),
    `${'x.'.repeat(115)}x`,
  ]) {
    const answer = await post(apiKey, 'domain/dkimKey', { domain, selector, privateKey: KEY })
    t.match(answer, { status: 400, json: { error_info: { error_code: 113 } } }, selector)
    t.match(errorText(answer), /^Parameter \[selector\] is invalid/)
  }
  for (const input of [
    { domain, selector: 's' },
    { domain, privateKey: KEY },
  ]) {
    t.match(errorText(await post(apiKey, 'domain/dkimKey', input)), /^Parameter \[\w+\] not passed/)
  }
  t.strictSame(roles((await done<ShownDomain[]>(apiKey, 'domains', { domain }))[0] as ShownDomain), [['pr1', 'active']])
})

t.test(
  'a domain that never sent becomes active with an own key, and its first key leaves no record behind',
  async (t) => {
    const domain = newName()
    await done(apiKey, 'domain', { domain })
    const waiting = await done(apiKey, 'domain/dkimKey', { domain, selector: 'own', privateKey: KEY })
    test.set(`own._domainkey.${domain}`, { txt: [`v=DKIM1; k=rsa; p=${spki(KEY)}`] })
    test.publish(waiting, 'spf')
    const active = await done(apiKey, 'domain/verify', { domain })
    t.equal(active.status, 'active')
    t.strictSame(roles(active), [['own', 'active']])
  },
)
