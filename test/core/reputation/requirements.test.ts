import { generateKeyPairSync } from 'node:crypto'
import type { DomainWithRecords, ReceiverRequirement, RequirementName, Submission } from '@postrider/core'
import t from 'tap'
import { answered, postrider } from '../../cli/postrider.ts'
import { startDns } from '../../helpers/dns.ts'
import { makeService } from '../../helpers/service.ts'
import { acceptMessage, envelopeTo } from '../submission.ts'

const dns = await startDns(t, {})
const service = await makeService(t, { DNS_SERVERS: dns.address, DELIVERY: 'mx', BLOCK_LISTS: 'none' })
const { sql, env, core } = service
const BY = { keyId: null, address: null }

/** An active domain of an account, whose records were looked up; `without`: records that are not published. */
async function addDomain(name: string, without: readonly string[] = [], account?: number) {
  await service.giveKey(name)
  const accountId = account ?? (await core.accounts.create(`of ${name}`)).id
  const domain = await core.domains.add({ accountId, name, state: 'active' })
  for (const { type, host, value, purpose } of domain.dns)
    if (!without.includes(purpose)) dns.zones[host] = type === 'TXT' ? { txt: [value] } : { cname: value }
  return core.domains.verify(accountId, name, BY)
}

async function demanded(
  { id }: Pick<DomainWithRecords, 'id'>,
  receiver: string,
  name: RequirementName,
): Promise<ReceiverRequirement | undefined> {
  const { receivers } = await core.guard.requirements(id)
  const own = receivers.find((one) => one.receiver === receiver)
  return own?.requirements.find((one) => one.name === name)
}

async function count(domain: DomainWithRecords, provider: string, delivered: number, complained: number, hours = 1) {
  await sql`
    insert into delivery_counts (account_id, hour, domain_id, class, provider, source, accepted, attempts, delivered, deferred, hard, soft,
           blocked, late, complained, unsubscribed)
    values (${domain.accountId}, date_trunc('hour', service_now() - make_interval(hours => ${hours}::int)), ${domain.id}, 2, ${provider}, '',
            ${delivered}, ${delivered}, ${delivered}, 0, 0, 0, 0, 0, ${complained}, 0)`
}

t.test(
  'each receiver has its own demands, with the address of its page and the day on which it was read',
  async (t) => {
    const domain = await addDomain('each.test')
    const { receivers } = await core.guard.requirements(domain.id)
    t.strictSame(
      receivers.map(({ receiver, bulkFrom }) => [receiver, bulkFrom]),
      [
        ['google', 5000],
        ['yahoo', null],
        ['microsoft', 5000],
      ],
    )
    for (const { sources, requirements } of receivers) {
      t.ok(sources.length > 0)
      for (const { address, read } of sources) {
        t.match(address, /^https:/)
        t.match(read, /^\d{4}-\d\d-\d\d$/)
      }
      for (const name of ['spf', 'dkim', 'dmarc', 'alignment'])
        t.match(
          requirements.find((one) => one.name === name),
          { state: 'right', senders: 'bulk' },
          name,
        )
    }
    t.match(await demanded(domain, 'google', 'tls'), { state: 'right', senders: 'all' })
    t.equal(await demanded(domain, 'microsoft', 'tls'), undefined)
    t.equal(await demanded(domain, 'microsoft', 'oneClick'), undefined)
    t.match(await demanded(domain, 'yahoo', 'oneClick'), { state: 'unneeded' })
  },
)

t.test('domain check shows what each receiver demands and what is to be done, as text and as JSON', async (t) => {
  await addDomain('shown.test', ['dmarc'])
  const { stdout } = await postrider(env, 'domain', 'check', 'shown.test')
  t.match(stdout, /^Gmail: https:\/\/support\.google\.com\/a\/answer\/81126 \(2026-11-29\)$/m)
  t.match(stdout, /^Yahoo: .*senders\.yahooinc\.com/m)
  t.match(
    stdout,
    /^DMARC +missing +large +Gmail, Yahoo, Microsoft +no DMARC record applies to the domain; publish the DMARC/m,
  )
  t.equal(stdout.split('publish the DMARC record').length, 2, 'what all demand is said once')
  t.match(stdout, /^TLS +fulfilled +all +Gmail$/m)
  t.match(stdout, /^one-click unsubscribe +not needed +large +Gmail, Yahoo$/m)
  t.match(stdout, /^few complaints +not known +all +Gmail +no complaint of this receiver/m)
  const shown = await answered<{ requirements: unknown[]; receivers: { requirements: unknown[] }[] }>(
    env,
    'domain',
    'check',
    'shown.test',
  )
  t.match(shown.requirements[0], { name: 'dkim', state: 'right' })
  const dmarc = { name: 'dmarc', state: 'missing', senders: 'bulk', problem: /^no DMARC/, remedy: /p=none/ }
  for (const { requirements } of shown.receivers) t.match(requirements, [{}, {}, dmarc])
})

t.test('From is aligned by the DKIM signature or by the return path of the domain', async (t) => {
  const state = async (domain: DomainWithRecords) => (await demanded(domain, 'yahoo', 'alignment'))?.state
  t.equal(await state(await addDomain('signed.test', ['returnPath'])), 'right')
  t.equal(await state(await addDomain('returned.test', ['dkim'])), 'right')
  t.equal(await state(await addDomain('neither.test', ['dkim', 'returnPath'])), 'missing')
})

t.test('a signing key of less than 1024 bits is too short', async (t) => {
  const domain = await addDomain('short.test')
  const { publicKey } = generateKeyPairSync('rsa', { modulusLength: 1024 })
  const replace = (key: Buffer) => sql`update dkim_keys set public_key = ${key} where domain_id = ${domain.id}`
  await replace(publicKey.export({ type: 'spki', format: 'der' }))
  t.match(await demanded(domain, 'google', 'dkim'), { state: 'right' })
  const { publicKey: weak } = generateKeyPairSync('rsa', { modulusLength: 768 })
  await replace(weak.export({ type: 'spki', format: 'der' }))
  t.match(await demanded(domain, 'google', 'dkim'), { state: 'missing', problem: /768 bits/, remedy: /the next key/ })
})

t.test('mail must not be from a domain of a mailbox provider', async (t) => {
  t.match(await demanded(await addDomain('news.gmail.com'), 'google', 'from'), {
    state: 'missing',
    problem: /Gmail/,
    remedy: /a domain of your own/,
  })
  t.match(await demanded(await addDomain('notgmail.com'), 'google', 'from'), { state: 'right' })
})

t.test('complaints are compared with what is delivered to the receiver, as far as it reports any', async (t) => {
  const domain = await addDomain('complained.test')
  const state = () => demanded(domain, 'yahoo', 'complaints')
  t.match(await state(), { state: 'unchecked', remedy: /feedback loop/ })
  await count(domain, 'yahoo', 10_000, 9)
  t.match(await state(), { state: 'right', problem: undefined })
  await count(domain, 'yahoo', 0, 1, 2)
  t.match(await state(), { state: 'right', problem: /^0\.1 % of the messages/ }, 'near the limit')
  await count(domain, 'yahoo', 0, 20, 3)
  t.match(await state(), { state: 'missing', problem: /^0\.3 % .* less than 0\.3 %/ })
  t.match(await demanded(domain, 'google', 'complaints'), { state: 'unchecked', remedy: /imports the spam rate/ })
  const fine = await addDomain('praised.test')
  await count(fine, 'yahoo', 20, 1)
  t.match(await demanded(fine, 'yahoo', 'complaints'), { state: 'right' }, 'one complaint says nothing')
})

t.test('what is older than a day is not counted as complaints', async (t) => {
  const domain = await addDomain('older.test')
  await count(domain, 'yahoo', 1000, 500, 25)
  t.match(await demanded(domain, 'yahoo', 'complaints'), { state: 'right' })
})

t.test('the spam rate of Gmail is that of its Postmaster Tools', async (t) => {
  const domain = await addDomain('postmaster.test')
  const [now] = await sql<{ day: string }[]>`select to_char(service_now() at time zone 'UTC', 'YYYY-MM-DD') as day`
  const figure = (value: string) =>
    core.providerFigures.import({
      service: 'google',
      text: `Date,Spam rate\n${now?.day},${value}\n`,
      domain: domain.name,
    })
  const state = () => demanded(domain, 'google', 'complaints')
  await figure('0.05%')
  t.match(await state(), { state: 'right', problem: undefined })
  await figure('0.004')
  t.match(await state(), { state: 'missing', problem: /^0\.4 %/ })
  await figure('none')
  t.match(await state(), { state: 'unchecked' })
})

t.test('bulk mail needs one-click unsubscription: added links, or fields of its own', async (t) => {
  const sender = await service.makeSender()
  const domain = await core.domains.show(sender.domain)
  const state = () => demanded(domain, 'google', 'oneClick')
  const send = (extra: Partial<Submission>) => acceptMessage(service, sender, extra)
  const bulk = { class: 'bulk' }
  const parts = (headers: Record<string, string>) => ({
    settings: bulk,
    content: { kind: 'parts', html: '<p>Sale</p>', text: undefined, amp: undefined, headers } as const,
  })
  const list = { 'List-Unsubscribe': '<https://ship.example/u/1>' }
  const oneClick = { ...list, 'List-Unsubscribe-Post': 'List-Unsubscribe=One-Click' }
  t.match(await state(), { state: 'unneeded' })
  await send({ settings: { class: 'normal' } })
  t.match(await state(), { state: 'unneeded' })
  await send({ settings: { ...bulk, unsubscribe: true } })
  await send(parts(oneClick))
  await send({ settings: bulk, envelopes: [envelopeTo('a@harbor.example', { headers: oneClick })] })
  await send({
    settings: bulk,
    content: mime('List-Unsubscribe-Post: List-Unsubscribe=One-Click\r\nList-unsubscribe:\r\n <https://a.example/>'),
  })
  t.match(await state(), { state: 'right' })
  await send({ settings: bulk })
  t.match(await state(), { state: 'missing', problem: /^1 of 5 bulk messages/, remedy: /List-Unsubscribe-Post/ })
  // If the sender sets one of the two fields, no link is added.
  await send({ ...parts(list), settings: { ...bulk, unsubscribe: true } })
  await send(parts({ ...oneClick, 'List-Unsubscribe': '<mailto:off@ship.example>' }))
  await send({
    settings: bulk,
    envelopes: [envelopeTo('a@harbor.example', { headers: oneClick }), envelopeTo('b@harbor.example')],
  })
  await send({ settings: bulk, content: mime('List-Unsubscribe: <https://a.example/>') })
  await send({ settings: bulk, content: mime('Subject: x\r\n\r\nList-Unsubscribe: <https://a.example/>') })
  t.match(await state(), { state: 'missing', problem: /^6 of 10 bulk messages/ })
})

/** In pieces of seven octets, as a slow client sends it. */
function mime(fields: string): Submission['content'] {
  const octets = Buffer.from(`From: desk@ship.example\r\n${fields}\r\n\r\nSale\r\n`)
  const pieces = Array.from({ length: Math.ceil(octets.length / 7) }, (_, at) => octets.subarray(at * 7, at * 7 + 7))
  const trace = { helo: 'client.example', address: '127.0.0.1', protocol: 'ESMTP' }
  return { kind: 'mime', pieces, trace, lacksDate: true, lacksMessageId: true, nullReturnPath: false }
}
