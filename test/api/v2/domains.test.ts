import t from 'tap'
import { isInTime } from '../../helpers/pace.ts'
import { sendV2, v2Body } from '../../helpers/send.ts'
import { call, errorText } from '../call.ts'
import { type ShownDomain, startDomains, statesOf, untagged } from './domain.ts'

const test = await startDomains(t)
const { service, url, dns, post, postForm, done, newName } = test
const sender = await service.makeSender()
const { apiKey } = sender

function refusal(code: number): Record<string, unknown> {
  return { status: 400, json: { message: 'Error in Domain api call', error_info: { error_code: code } } }
}

t.test('E17 addDomain answers a pending domain with every record to set, in JSON and as a form', async (t) => {
  for (const send of [post, postForm]) {
    const domain = newName()
    const answer = await send(apiKey, 'domain', { domain, envelopeName: 'track' })
    t.match(answer, { status: 200, json: { message: 'Success', error_info: null } })
    const data = answer.json?.data as ShownDomain
    t.match(data, { domain, envelopeName: 'track', status: 'pending', shared: false, checkedTime: null })
    t.strictSame(
      data.dns.map(({ purpose, type, host, verified, required }) => [
        purpose,
        type,
        untagged(host),
        verified,
        required,
      ]),
      [
        ['dkim', 'TXT', `pr1._domainkey.${domain}`, false, true],
        ['spf', 'TXT', domain, false, true],
        ['returnPath', 'CNAME', `pr-bounces.${domain}`, false, false],
        ['envelope', 'CNAME', `track.${domain}`, false, false],
        ['dmarc', 'TXT', `_dmarc.${domain}`, false, false],
      ],
    )
    t.match(
      data.dns.map(({ value }) => value),
      [
        /^v=DKIM1; k=rsa; p=MII/,
        'v=spf1 include:returns.relay.test ~all',
        'returns.relay.test',
        'go.relay.test',
        /^v=DMARC1/,
      ],
    )
  }
})

t.test('X130 addDomain returns 130 for an invalid domain name', async (t) => {
  for (const domain of ['-bad-', 'nodots', 'two words.example', 'a..example', '127.0.0.1', '', 'x'.repeat(2000)]) {
    for (const send of [post, postForm]) {
      const answer = await send(apiKey, 'domain', { domain, envelopeName: 'track' })
      t.match(answer, refusal(130), domain.slice(0, 20))
      t.equal(errorText(answer), 'Invalid domain name')
    }
  }
})

t.test('X131 addDomain answers 131 for a domain that the account has, in any case', async (t) => {
  const domain = newName()
  await done(apiKey, 'domain', { domain })
  for (const name of [domain, domain.toUpperCase()])
    t.match(await post(apiKey, 'domain', { domain: name }), refusal(131))
})

t.test('X113 and X110: a domain operation without its domain is refused', async (t) => {
  for (const path of [
    'domain',
    'domain/verify',
    'domain/delete',
    'domain/rotateDkim',
    'domain/share',
    'domain/dkimKey',
  ]) {
    const missing = await post(apiKey, path, { other: 1 })
    t.match(missing, refusal(113), path)
    t.equal(errorText(missing), 'Parameter [domain] not passed')
    t.match(await post(apiKey, path, {}), refusal(110), path)
    t.match(await post(apiKey, path, { domain: 7, shared: true, selector: 's', privateKey: 'k' }), refusal(130), path)
  }
})

t.test('envelopeName must be labels below the domain', async (t) => {
  for (const envelopeName of [
    '',
    ' ',
    '-x',
    'x-',
    'a..b',
    '.a',
    'a.',
    'a b',
    'a_b',
    'a/b',
    'x'.repeat(64),
    'pr-bounces',
    'a.'.repeat(130),
  ]) {
    const answer = await post(apiKey, 'domain', { domain: newName(), envelopeName })
    t.match(answer, refusal(113), envelopeName.slice(0, 20))
    t.match(errorText(answer), /^Parameter \[envelopeName\] is invalid/)
  }
  for (const [given, kept] of [
    ['TRACK', 'track'],
    ['a.b', 'a.b'],
    ['1', '1'],
    ['m\u00fcll', 'xn--mll-hoa'],
  ] as const) {
    t.equal((await done(apiKey, 'domain', { domain: newName(), envelopeName: given })).envelopeName, kept)
  }
})

t.test('E19 listDomains answers the domains by status, by name and by page', async (t) => {
  const own = await service.makeSender()
  const pending = newName()
  await done(own.apiKey, 'domain', { domain: pending, envelopeName: 'track' })
  const list = async (query: string, path = 'domain/getDomains') => {
    const answer = await call(url, { method: 'GET', path: `/v2/${path}?${query}`, headers: { api_key: own.apiKey } })
    return { ...answer, names: (answer.json?.data as ShownDomain[] | undefined)?.map(({ domain }) => domain) }
  }
  t.match(await list('status=1'), {
    status: 200,
    json: { data: [{ domain: own.domain, envelopeName: null, status: 'active' }], message: 'Success', totalRecords: 1 },
  })
  t.strictSame((await list('status=0')).names, [pending])
  t.strictSame((await list('status=pending&domain=')).names, [pending])
  t.strictSame((await list(`status=&domain=${pending}`)).names, [pending])
  t.strictSame((await list('status=inactive')).names, [])
  t.strictSame((await list('')).names, [pending, own.domain].sort())
  t.strictSame((await list('', 'domains')).names, [pending, own.domain].sort())
  t.strictSame((await list(`domain=${pending.toUpperCase()}`)).names, [pending])
  t.strictSame((await list('domain=nobody.example')).names, [])
  const page = await list('limit=1&offset=1')
  t.strictSame([page.names, page.json?.totalRecords], [[pending, own.domain].sort().slice(1), 2])
  t.match(await list('status=2'), refusal(113))
  t.match(await list('domain=-bad-'), refusal(130))
  t.match(await list('limit=x'), refusal(113))
  for (const send of [post, postForm]) {
    t.match((await send(own.apiKey, 'domains', { status: 1 })).json?.data, [{ domain: own.domain, status: 'active' }])
  }
})

t.test('a domain is active once verify sees its required records, and may send then', async (t) => {
  const domain = newName()
  const added = await done(apiKey, 'domain', { domain, envelopeName: 'track' })
  const nothing = await done(apiKey, 'domain/verify', { domain })
  t.equal(nothing.status, 'pending')
  t.strictSame(new Set(Object.values(statesOf(nothing))), new Set(['missing']))
  t.match(nothing.checkedTime, /^20/)
  const from = { fromEmail: `desk@${domain}`, fromName: 'Desk' }
  const send = () => sendV2(url, apiKey, v2Body({ ...sender, domain }, { from }))
  t.match(await send(), { status: 400, body: { error_info: { error_code: 112 } } })

  test.publish(added, 'dkim')
  t.equal((await done(apiKey, 'domain/verify', { domain })).status, 'pending', 'DKIM alone is not enough')
  test.publish(added)
  const active = await done(apiKey, 'domain/verify', { domain })
  t.equal(active.status, 'active')
  t.strictSame(new Set(Object.values(statesOf(active))), new Set(['right']))
  t.match(await send(), { status: 200 })
  const [row] = await service.sql`select return_path_host as host from domains where name = ${domain}`
  t.equal(row?.host, `pr-bounces.${domain}`, 'bounces go to its own host')
})

t.test('the return path replaces the SPF record', async (t) => {
  const domain = newName()
  test.publish(await done(apiKey, 'domain', { domain }), 'dkim', 'returnPath')
  const active = await done(apiKey, 'domain/verify', { domain })
  t.match(active, { status: 'active' })
  t.strictSame(statesOf(active), { 'dkim active': 'right', spf: 'missing', returnPath: 'right', dmarc: 'missing' })
  t.equal(active.dns.find(({ purpose }) => purpose === 'spf')?.required, false)
})

const INCLUDE = 'include:returns.relay.test'
const SEEN: readonly (readonly [
  purpose: string,
  what: string,
  txt: (value: string) => string[],
  state: string,
  problem?: RegExp,
])[] = [
  ['spf', 'among others', () => ['other=1', `v=spf1 mx ${INCLUDE} -all`], 'right'],
  ['spf', 'in capitals', () => [`V=SPF1 ${INCLUDE.toUpperCase()} -ALL`], 'right'],
  ['spf', 'by redirect', () => ['v=spf1 redirect=returns.relay.test'], 'right'],
  ['spf', 'twice', () => [`v=spf1 ${INCLUDE} -all`, 'v=spf1 mx -all'], 'wrong', /multiple/],
  ['spf', 'behind all', () => [`v=spf1 -all ${INCLUDE}`], 'wrong', /must precede/],
  ['spf', 'as a failure', () => [`v=spf1 -${INCLUDE} -all`], 'wrong', /does not contain/],
  [
    'spf',
    'of another service',
    () => ['v=spf1 include:other.test -all'],
    'wrong',
    /does not contain include:returns\.relay\.test/,
  ],
  ['spf', 'with a longer name', () => [`v=spf1 ${INCLUDE}ing -all`], 'wrong', /does not contain/],
  ['spf', 'among texts of others', () => ['v=spf10', 'x'], 'missing'],
  [
    'dkim',
    'with blanks and other tags',
    (v) => [v.replace('p=', 'h=sha1:sha256; s=*; n=x; p= ').replace(/(.{60})$/, ' $1')],
    'right',
  ],
  ['dkim', 'with the key alone', (v) => [v.replace(/^.*p=/, 'p=')], 'right'],
  ['dkim', 'revoked', () => ['v=DKIM1; p='], 'wrong', /revokes/],
  ['dkim', 'cut', (v) => [v.slice(0, -20)], 'wrong', /cut off after \d+ of \d+ characters/],
  ['dkim', 'twice', (v) => [v, 'v=DKIM1; k=rsa; p=QUJD'], 'wrong', /multiple/],
  ['dkim', 'for another algorithm', (v) => [v.replace('k=rsa', 'k=ed25519')], 'wrong', /k=rsa/],
  ['dkim', 'for SHA-1 only', (v) => [`${v}; h=sha1`], 'wrong', /SHA-256/],
  ['dkim', 'that is none', () => ['hello'], 'wrong', /not a DKIM/],
  ['dmarc', 'of its own', () => ['v=DMARC1; p=reject; rua=mailto:a@ship.example'], 'right'],
  ['dmarc', 'without a policy', () => ['v=DMARC1; rua=mailto:a@ship.example'], 'wrong', /p=/],
]
for (const [purpose, what, txt, state, problem] of SEEN) {
  t.test(`the ${purpose} record ${what} is ${state}`, async (t) => {
    const domain = newName()
    const wanted = (await done(apiKey, 'domain', { domain })).dns.find((record) => record.purpose === purpose)
    test.set(wanted?.host as string, { txt: txt(wanted?.value as string) })
    const seen = (await done(apiKey, 'domain/verify', { domain })).dns.find((record) => record.purpose === purpose)
    t.match(seen, { state, verified: state === 'right' }, JSON.stringify(seen))
    if (problem) t.match(seen?.problem, problem)
    if (state === 'wrong')
      t.ok(seen?.found?.every((found) => txt(wanted?.value as string).some((text) => text.startsWith(found))))
    else t.notOk(seen?.found)
  })
}

t.test('a CNAME that points elsewhere is wrong, and the host found is told', async (t) => {
  const domain = newName()
  await done(apiKey, 'domain', { domain, envelopeName: 'track' })
  test.set(`pr-bounces.${domain}`, { cname: 'other.test' })
  test.set(`track.${domain}`, { cname: 'GO.Relay.Test' })
  const { dns } = await done(apiKey, 'domain/verify', { domain })
  t.match(
    dns.find(({ purpose }) => purpose === 'returnPath'),
    { state: 'wrong', found: ['other.test'] },
  )
  t.match(
    dns.find(({ purpose }) => purpose === 'envelope'),
    { state: 'right' },
  )
})

t.test('what others publish is shown in bounds, without what hides or breaks', async (t) => {
  const domain = newName()
  await done(apiKey, 'domain', { domain })
  const long = `v=spf1 ${'\u{1f4ef}'.repeat(2000)}`
  test.set(domain, { txt: ['v=spf1 \u0000\u001b[31m\u202e -all', ...Array.from({ length: 8 }, () => 'v=spf1 mx')] })
  test.set(`_dmarc.${domain}`, { txt: [long] })
  const { dns } = await done(apiKey, 'domain/verify', { domain })
  const spf = dns.find(({ purpose }) => purpose === 'spf')
  t.match(spf, { state: 'wrong', problem: /multiple/ })
  t.equal(spf?.found?.length, 5)
  t.notMatch(spf?.found?.join(), /[\u0000-\u001f\u202e]/)
  const dmarc = dns.find(({ purpose }) => purpose === 'dmarc')
  t.ok((dmarc?.found?.[0]?.length ?? 9999) <= 500, JSON.stringify(dmarc))
})

for (const fails of ['servfail', 'silence'] as const) {
  t.test(`a DNS that answers with ${fails} is not a missing record: every state stays as it was`, async (t) => {
    const domain = newName()
    const added = await done(apiKey, 'domain', { domain })
    test.publish(added)
    const before = await done(apiKey, 'domain/verify', { domain })
    for (const { host } of added.dns) test.set(host, { fails })
    const began = performance.now()
    const after = await done(apiKey, 'domain/verify', { domain })
    t.ok(isInTime(began, 10_000), 'within its time')
    t.match(after, { status: 'active', brokenSince: null })
    t.strictSame(statesOf(after), statesOf(before))
    for (const { problem } of after.dns) t.match(problem, /DNS lookup failed/)

    const fresh = await done(apiKey, 'domain', { domain: `new.${domain}` })
    for (const { host } of fresh.dns) test.set(host, { fails })
    const unseen = await done(apiKey, 'domain/verify', { domain: `new.${domain}` })
    t.strictSame([unseen.status, ...new Set(Object.values(statesOf(unseen)))], ['pending', 'unchecked'])
  })
}

t.test('E18 deleteDomain answers nothing, by DELETE and by POST, and the domain can no longer send', async (t) => {
  const ways = [
    { method: 'DELETE', headers: {}, json: true },
    { method: 'POST', headers: {}, json: true },
    { method: 'DELETE', headers: { 'content-type': 'application/x-www-form-urlencoded' }, json: false },
  ] as const
  for (const { method, headers, json } of ways) {
    const { apiKey, domain } = await service.makeSender()
    const body = json ? { domain } : `domain=${domain}`
    const answer = await call(url, {
      method,
      path: '/v2/domain/delete',
      headers: { api_key: apiKey, ...headers },
      body,
    })
    t.match(answer, { status: 200 })
    t.strictSame(answer.json, { data: {}, message: 'Success', error_info: null })
    t.match(await sendV2(url, apiKey, v2Body({ ...sender, domain })), {
      status: 400,
      body: { error_info: { error_code: 112 } },
    })
    t.strictSame(await done(apiKey, 'domains', {}), [])
    t.match(await post(apiKey, 'domain/delete', { domain }), refusal(132), 'it is gone')
  }
})

t.test('a deleted name can be added by anybody, with a key and a selector of its own', async (t) => {
  const { apiKey, domain } = await service.makeSender()
  const [dkim] = (await done<ShownDomain[]>(apiKey, 'domains', {}))[0]?.dns ?? []
  await done(apiKey, 'domain/delete', { domain })
  const other = await service.makeSender()
  const [again] = (await done(other.apiKey, 'domain', { domain })).dns
  t.not(again?.host, dkim?.host, 'the record of mail that is still on its way may stay')
  t.not(again?.value, dkim?.value)
  const [own] = (await done(apiKey, 'domain', { domain })).dns
  t.equal(own?.host, dkim?.host.replace('pr1', 'pr2'))
})

t.test('132: no operation knows a domain that the account does not have', async (t) => {
  for (const path of ['domain/verify', 'domain/delete', 'domain/rotateDkim', 'domain/share', 'domain/dkimKey']) {
    const input = { domain: 'never.example', shared: true, selector: 's', privateKey: 'x' }
    const answer = await post(apiKey, path, input)
    t.match(answer, refusal(132), path)
    t.equal(errorText(answer), 'Domain not found')
    t.match(await postForm(apiKey, path, input), refusal(132), path)
    t.match(await post(apiKey, path, { ...input, domain: 'no name' }), refusal(130), path)
  }
})

t.test('a subaccount sends from a domain of its parent while the parent shares it', async (t) => {
  const parent = await service.makeSender()
  const child = await service.makeSender()
  await service.sql`update accounts set parent_id = ${parent.accountId}, username = 'child' where id = ${child.accountId}`
  // The key was not asked about before, so the door learns of the parent now.
  const send = async (key: string) => (await sendV2(url, key, v2Body(parent))).status
  t.equal(await send(child.apiKey), 400)
  for (const act of [post, postForm]) {
    t.match((await act(parent.apiKey, 'domain/share', { domain: parent.domain, shared: true })).json?.data, {
      shared: true,
    })
    t.equal(await send(child.apiKey), 200)
    t.equal(await send(apiKey), 400, 'nobody else')
    for (const [given, shared] of [
      ['0', false],
      [1, true],
      ['false', false],
      ['true', true],
      [0, false],
      ['1', true],
    ])
      t.match((await act(parent.apiKey, 'domain/share', { domain: parent.domain, shared: given })).json, {
        data: { shared },
      })
    for (const wrong of [2, 'yes', ''])
      t.match(
        await post(parent.apiKey, 'domain/share', { domain: parent.domain, shared: wrong }),
        refusal(113),
        String(wrong),
      )
    t.match(
      await post(child.apiKey, 'domain/share', { domain: parent.domain, shared: false }),
      refusal(132),
      'not its own',
    )
    t.match((await act(parent.apiKey, 'domain/share', { domain: parent.domain, shared: false })).json?.data, {
      shared: false,
    })
    t.equal(await send(child.apiKey), 400)
  }
  t.match(await post(parent.apiKey, 'domain/share', { domain: parent.domain }), refusal(113))
})

t.test('every change is in the audit log, with who and from where', async (t) => {
  const own = await service.makeSender()
  const domain = newName()
  const added = await done(own.apiKey, 'domain', { domain })
  await done(own.apiKey, 'domain/verify', { domain })
  await done(own.apiKey, 'domain/verify', { domain })
  test.publish(added)
  await done(own.apiKey, 'domain/verify', { domain })
  await done(own.apiKey, 'domain/share', { domain, shared: true })
  await done(own.apiKey, 'domain/rotateDkim', { domain })
  await done(own.apiKey, 'domain/delete', { domain })
  const entries = (await service.core.audit.list(own.accountId, { after: 0, limit: 100 })).filter(
    ({ object }) => object === `domain ${domain}`,
  )
  t.strictSame(
    entries.map(({ action }) => action),
    ['domain.add', 'domain.check', 'domain.check', 'domain.share', 'domain.rotateDkim', 'domain.delete'],
    'a look that sees nothing new is none',
  )
  t.match(entries[2], {
    before: { state: 'pending', records: { [`spf ${domain}`]: 'missing' } },
    after: { state: 'active', records: { [`spf ${domain}`]: 'right' } },
  })
  for (const { keyId, address } of entries) t.match([keyId, address], [/\d/, '127.0.0.1'])
  t.equal(await service.core.audit.firstBroken(own.accountId), null)
})

t.test('the DNS is asked only for domains of the account', async (t) => {
  const { domain } = await service.makeSender()
  dns.questions.length = 0
  t.match(await post(apiKey, 'domain/verify', { domain }), refusal(132))
  t.strictSame(dns.questions, [])
})
