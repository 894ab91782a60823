import { createPrivateKey, generateKeyPairSync } from 'node:crypto'
import t from 'tap'
import { moveClock } from '../../helpers/database.ts'
import { errorText } from '../call.ts'
import { type ShownDomain, type ShownRecord, startDomains, statesOf, untagged } from './domain.ts'

const test = await startDomains(t)
const { service, post, postForm, done, newName } = test
const { apiKey, accountId } = await service.makeSender()

const NO_SIGNATURE = 'mail has no Ed25519 signature until this record is found'

function keysOf({ dns }: ShownDomain): [host: string | undefined, key: string | undefined][] {
  return dns.flatMap(({ algorithm, host, key }) =>
    algorithm === 'ed25519' ? [[untagged(host.split('.')[0]), key]] : [],
  )
}

function recordOf({ dns }: ShownDomain, key: string): ShownRecord {
  const found = dns.find((one) => one.algorithm === 'ed25519' && one.key === key)
  if (!found) throw new Error(`no ${key} key of Ed25519`)
  return found
}

function set({ host }: ShownRecord, ...txt: string[]): void {
  test.set(host, { txt })
}

const verify = ({ domain }: ShownDomain): Promise<ShownDomain> => done(apiKey, 'domain/verify', { domain })
const turn = ({ domain }: ShownDomain, ed25519: boolean): Promise<ShownDomain> =>
  done(apiKey, 'domain/ed25519', { domain, ed25519 })

/** The selectors that mail is signed with. */
async function signing({ domain }: ShownDomain): Promise<(string | undefined)[]> {
  const [row] = await service.sql`select id from domains where name = ${domain} and deleted_at is null`
  const signer = await service.core.domains.signer(row?.id as number)
  return [untagged(signer?.selector), untagged(signer?.ed25519?.selector)]
}

/** An active domain that has the option; its Ed25519 record is not there yet. */
async function activeDomain(): Promise<ShownDomain> {
  const added = await done(apiKey, 'domain', { domain: newName(), ed25519: true })
  for (const { host, value, type, algorithm } of added.dns) {
    if (algorithm !== 'ed25519') test.set(host, type === 'TXT' ? { txt: [value] } : { cname: value })
  }
  return verify(added)
}

/** The same with its record found. */
async function signingDomain(): Promise<ShownDomain> {
  const domain = await activeDomain()
  const record = recordOf(domain, 'next')
  set(record, record.value)
  return verify(domain)
}

t.test('a domain has no Ed25519 key unless it is requested', async (t) => {
  const added = await done(apiKey, 'domain', { domain: newName() })
  t.equal(added.ed25519, false)
  t.strictSame(keysOf(added), [])
  t.strictSame(
    added.dns.flatMap(({ algorithm }) => algorithm ?? []),
    ['rsa'],
  )
})

t.test('a domain added with ed25519 answers its record, in JSON and as a form', async (t) => {
  for (const send of [post, postForm]) {
    const domain = newName()
    const added = (await send(apiKey, 'domain', { domain, ed25519: true })).json?.data as ShownDomain
    t.equal(added.ed25519, true)
    const [rsa, own] = added.dns
    t.match(own, { type: 'TXT', purpose: 'dkim', key: 'next', algorithm: 'ed25519', required: false })
    t.match(own?.value, /^v=DKIM1; k=ed25519; p=[A-Za-z0-9+/]{43}=$/, 'the 32 octets of the key (RFC 8463 4.2)')
    t.equal(own?.host, rsa?.host.replace(/^pr1-/, 'pr1-ed-'), 'a selector of its own')
  }
})

t.test('the domain is active without the Ed25519 record, which signs only once it is found', async (t) => {
  const domain = await activeDomain()
  t.match(domain, { status: 'active', brokenSince: null, ed25519: true })
  t.strictSame(keysOf(domain), [['pr1-ed', 'next']])
  t.match(recordOf(domain, 'next'), { state: 'missing', verified: false, problem: NO_SIGNATURE })
  t.strictSame(await signing(domain), ['pr1', undefined])
  const record = recordOf(domain, 'next')
  set(record, record.value)
  const found = await verify(domain)
  t.match(recordOf(found, 'active'), { state: 'right', verified: true, required: false })
  t.notOk(recordOf(found, 'active').problem)
  t.strictSame(await signing(domain), ['pr1', 'pr1-ed'])
})

t.test('its own Ed25519 record alone does not activate a domain', async (t) => {
  const added = await done(apiKey, 'domain', { domain: newName(), ed25519: true })
  const record = recordOf(added, 'next')
  set(record, record.value)
  test.publish({ ...added, dns: added.dns.filter(({ purpose }) => purpose === 'spf') })
  t.match(await verify(added), { status: 'pending' })
})

const WRONG: Readonly<Record<string, readonly [(value: string) => string[], RegExp]>> = {
  'that is gone': [() => [], /^mail has no Ed25519/],
  'with another key': [
    (v) => [v.replace(/p=.*/, `p=${Buffer.alloc(32, 7).toString('base64')}`)],
    /different key; mail/,
  ],
  'as a key of RSA': [(v) => [v.replace('k=ed25519', 'k=rsa')], /k=ed25519; mail/],
  'without k': [(v) => [v.replace(' k=ed25519;', '')], /k=ed25519; mail/],
  'that is revoked': [() => ['v=DKIM1; k=ed25519; p='], /revokes the key; mail/],
  twice: [(v) => [v, v], /multiple DKIM records/],
  'with a tag twice (RFC 6376 3.2)': [(v) => [`${v}; ${/p=.*/.exec(v)}`], /a tag occurs twice/],
}
for (const [what, [txt, problem]] of Object.entries(WRONG)) {
  t.test(`a record ${what} ends the Ed25519 signature, not that of RSA; it is back with the record`, async (t) => {
    const domain = await signingDomain()
    const record = recordOf(domain, 'active')
    set(record, ...txt(record.value))
    const checked = await verify(domain)
    t.match(checked, { status: 'active', brokenSince: null })
    t.match(recordOf(checked, 'active').problem, problem)
    t.strictSame(await signing(domain), ['pr1', undefined])
    set(record, record.value)
    await verify(domain)
    t.strictSame(await signing(domain), ['pr1', 'pr1-ed'])
  })
}

t.test('a DNS that does not answer changes nothing', async (t) => {
  const domain = await signingDomain()
  const record = recordOf(domain, 'active')
  test.set(record.host, { fails: 'servfail' })
  const checked = recordOf(await verify(domain), 'active')
  t.match(checked, { state: 'right', problem: /DNS lookup failed/ })
  t.strictSame(await signing(domain), ['pr1', 'pr1-ed'])
})

t.test(
  'ed25519 is turned on and off later; the record of the old key stays wanted, each key has its own selector',
  async (t) => {
    for (const send of [post, postForm]) {
      const added = await done(apiKey, 'domain', { domain: newName() })
      test.publish(added)
      await verify(added)
      const on = (await send(apiKey, 'domain/ed25519', { domain: added.domain, ed25519: true })).json
        ?.data as ShownDomain
      t.equal(on.ed25519, true)
      t.strictSame(keysOf(on), [['pr1-ed', 'next']])
      t.strictSame(await turn(on, true), on, 'again changes nothing')
      set(recordOf(on, 'next'), recordOf(on, 'next').value)
      await verify(on)
      t.strictSame(await signing(on), ['pr1', 'pr1-ed'])

      const off = (await send(apiKey, 'domain/ed25519', { domain: added.domain, ed25519: false })).json
        ?.data as ShownDomain
      t.equal(off.ed25519, false)
      t.strictSame(keysOf(off), [['pr1-ed', 'retiring']])
      t.strictSame(await signing(off), ['pr1', undefined])
      const stored = await service.sql`
      select octet_length(k.private_key) as octets from dkim_ed25519_keys k join domains d on d.id = k.domain_id where d.name = ${off.domain}`
      t.strictSame([...stored], [{ octets: 0 }], 'its private half is gone')

      const again = await turn(off, true)
      t.strictSame(keysOf(again), [
        ['pr2-ed', 'next'],
        ['pr1-ed', 'retiring'],
      ])
      t.not(recordOf(again, 'next').value, recordOf(again, 'retiring').value)
      t.strictSame(
        keysOf(await turn(again, false)),
        [['pr1-ed', 'retiring']],
        'a key that never signed leaves no record',
      )
    }
  },
)

t.test('the record of a key that signed is wanted for eight days', async (t) => {
  t.teardown(() => moveClock(service.sql, '0'))
  const off = await turn(await signingDomain(), false)
  await moveClock(service.sql, '7 days 23 hours')
  t.strictSame(keysOf(await verify(off)), [['pr1-ed', 'retiring']])
  await moveClock(service.sql, '8 days 1 hour')
  t.strictSame(keysOf(await verify(off)), [])
})

t.test('rotateDkim makes a next key of both algorithms; each signs once its record is found', async (t) => {
  const domain = await signingDomain()
  const all = await Promise.all([1, 2, 3, 4].map(() => done(apiKey, 'domain/rotateDkim', { domain: domain.domain })))
  t.equal(new Set(all.map((one) => JSON.stringify(one.dns.map(({ value }) => value)))).size, 1, 'one, of four calls')
  const [rotated] = all as [ShownDomain, ...ShownDomain[]]
  t.strictSame(statesOf(rotated), {
    ...statesOf(domain),
    'dkim next': 'unchecked',
    'dkim next ed25519': 'unchecked',
  })
  const missing = await verify(domain)
  t.notOk(recordOf(missing, 'next').problem, 'the former key signs')
  set(recordOf(rotated, 'next'), recordOf(rotated, 'next').value)
  const promoted = await verify(domain)
  t.strictSame(keysOf(promoted), [
    ['pr2-ed', 'active'],
    ['pr1-ed', 'retiring'],
  ])
  t.strictSame(await signing(domain), ['pr1', 'pr2-ed'])
  test.publish(promoted)
  await verify(domain)
  t.strictSame(await signing(domain), ['pr2', 'pr2-ed'])
})

t.test('rotateDkim while the first Ed25519 key waits makes a key of RSA only', async (t) => {
  const domain = await activeDomain()
  const rotated = await done(apiKey, 'domain/rotateDkim', { domain: domain.domain })
  t.strictSame(keysOf(rotated), [['pr1-ed', 'next']])
  t.ok('dkim next' in statesOf(rotated))
})

/** RFC 8463 A.2. */
const SEED = Buffer.from('nWGxne/9WmC6hEr0kuwsxERJxWl7MmkZcDusAxyuf2A=', 'base64')
const OWN = String(
  createPrivateKey({
    key: Buffer.concat([Buffer.from('302e020100300506032b657004220420', 'hex'), SEED]),
    format: 'der',
    type: 'pkcs8',
  }).export({ type: 'pkcs8', format: 'pem' }),
)

t.test('an own Ed25519 key is the next one next to the RSA key, and turns the option on', async (t) => {
  for (const send of [post, postForm]) {
    const added = await done(apiKey, 'domain', { domain: newName() })
    test.publish(added)
    await verify(added)
    const given = { domain: added.domain, selector: 'brisbane', privateKey: OWN }
    const answer = await send(apiKey, 'domain/dkimKey', given)
    const data = answer.json?.data as ShownDomain & { warnings: string[] }
    t.match(data, { ed25519: true, warnings: [] })
    t.match(recordOf(data, 'next'), {
      host: `brisbane._domainkey.${added.domain}`,
      value: 'v=DKIM1; k=ed25519; p=11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURo=',
    })
    t.notMatch(answer.text, /PRIVATE/)
    t.strictSame((await done(apiKey, 'domain/dkimKey', given)).dns, data.dns, 'again changes nothing')
    set(recordOf(data, 'next'), recordOf(data, 'next').value)
    await verify(data)
    t.strictSame(await signing(data), ['pr1', 'brisbane'])
  }
})

t.test('an own key takes the place of a next key of its own algorithm, and no selector of the other', async (t) => {
  const domain = await activeDomain()
  const { domain: name } = domain
  const own = await done(apiKey, 'domain/dkimKey', { domain: name, selector: 'own', privateKey: OWN })
  t.strictSame(keysOf(own), [['own', 'next']])
  const rsa = String(
    generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey.export({ type: 'pkcs8', format: 'pem' }),
  )
  const taken = await post(apiKey, 'domain/dkimKey', { domain: name, selector: 'own', privateKey: rsa })
  t.match(errorText(taken), /^Parameter \[selector\] is invalid: was already used by this domain/)
  const both = await done(apiKey, 'domain/dkimKey', { domain: name, selector: 'rsa', privateKey: rsa })
  t.strictSame(keysOf(both), [['own', 'next']])
  t.ok('dkim next' in statesOf(both))
})

t.test('113 names ed25519 if it is missing or no boolean, and changes nothing', async (t) => {
  const added = await done(apiKey, 'domain', { domain: newName() })
  const { domain } = added
  for (const ed25519 of ['maybe', 2, [], {}]) {
    const answer = await post(apiKey, 'domain/ed25519', { domain, ed25519 })
    t.match(answer, { status: 400, json: { error_info: { error_code: 113 } } })
    t.match(errorText(answer), /^Parameter \[ed25519\] is invalid/)
    t.match(
      errorText(await post(apiKey, 'domain', { domain: newName(), ed25519 })),
      /^Parameter \[ed25519\] is invalid/,
    )
  }
  t.match(errorText(await post(apiKey, 'domain/ed25519', { domain })), /^Parameter \[ed25519\] not passed/)
  const [shown] = await done<ShownDomain[]>(apiKey, 'domains', { domain })
  t.equal(shown?.ed25519, false)
})

t.test('turning it on and off is in the audit log, and so is which key signs; the keys are not', async (t) => {
  const domain = await signingDomain()
  await turn(domain, false)
  await done(apiKey, 'domain/dkimKey', { domain: domain.domain, selector: 'own', privateKey: OWN })
  const entries = (await service.core.audit.list(accountId, { after: 0, limit: 1000 })).filter(
    ({ object }) => object === `domain ${domain.domain}`,
  )
  t.match(entries, [
    { action: 'domain.add', after: { ed25519: true } },
    { action: 'domain.check' },
    { action: 'domain.check', after: { ed25519: /^pr1-ed-/ } },
    { action: 'domain.ed25519', before: { ed25519: true }, after: { ed25519: false } },
    { action: 'domain.dkimKey', after: { nextEd25519: 'own' } },
  ])
  t.notMatch(JSON.stringify(entries), /PRIVATE|nWGx/)
  const rows = await service.sql`select private_key as "privateKey" from dkim_ed25519_keys where selector = 'own'`
  for (const { privateKey } of rows) t.equal((privateKey as Buffer).indexOf(SEED), -1, 'and are stored sealed')
})
