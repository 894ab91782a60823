import type { DomainWithRecords } from '@postrider/core'
import { dkimVerify } from 'mailauth/lib/dkim/verify.js'
import t from 'tap'
import { startDns } from '../helpers/dns.ts'
import { startSink } from '../helpers/sink.ts'
import { until } from '../helpers/until.ts'
import { startOutboxProcess } from './outbox.ts'

const dns = await startDns(t, {})
const sink = await startSink(t)
const outbox = await startOutboxProcess(t, {
  DELIVERY: `smtp://127.0.0.1:${sink.port}`,
  DNS_SERVERS: dns.address,
  RETURN_PATH_HOST: 'returns.test',
})
const { accountId } = outbox.sender
const { domains } = outbox.service.core
const by = { keyId: null, address: null }

function publish({ dns: records }: DomainWithRecords): void {
  for (const { type, host, value } of records) dns.zones[host] = type === 'TXT' ? { txt: [value] } : { cname: value }
}

const from = (domain: string) => ({ from: { fromEmail: `desk@${domain}`, fromName: 'Desk' } })

/** What the sink got of a message: who it is from in the envelope, and another's verdict of its signature by the DNS. */
async function arrived(id: string): Promise<{ from: string; verdict: string; selector: string | undefined }> {
  await outbox.inState(id, 'delivered')
  const found = sink.messages.find(({ data }) => data.includes(id))
  if (!found) throw new Error(`message ${id} did not arrive`)
  const { results } = await dkimVerify(found.data, {
    resolver: async (name, type) => {
      const texts = type === 'TXT' ? dns.zones[name]?.txt : undefined
      if (!texts) throw Object.assign(new Error('no such record'), { code: 'ENOTFOUND' })
      return texts.map((text) => [text])
    },
  })
  const [one] = results
  return { from: found.from, verdict: `${one?.status.result} ${one?.signingDomain}`, selector: one?.selector }
}

t.test(
  'a running worker activates a domain whose records are set, and its mail has a return path of its own',
  async (t) => {
    const name = 'quay.example'
    publish(await domains.add({ accountId, name }))
    await outbox.advance(70)
    await until('the domain is active', async () => (await domains.show(name)).state === 'active', 40_000)
    const sent = await arrived(await outbox.send('a@harbor.example', from(name)))
    t.match(sent, { from: /@pr-bounces\.quay\.example$/, verdict: `pass ${name}` })
  },
)

t.test('no message goes unsigned or badly signed while the DKIM key is rotated', async (t) => {
  const name = 'turns.example'
  publish(await domains.add({ accountId, name, state: 'active' }))
  const ids: string[] = []
  const send = async () => ids.push(await outbox.send('a@harbor.example', from(name)))
  await send()
  await outbox.inState(ids[0] as string, 'delivered')
  publish(await domains.rotateDkim(accountId, name, by))
  await send()
  await outbox.advance(70)
  const signs = async () => (await domains.show(name)).dns[0]?.host.split('.')[0]
  await until(
    'the next key signs',
    async () => {
      await send()
      return (await signs())?.startsWith('pr2-') === true
    },
    40_000,
  )
  // The worker that saw the record uses the key at once.
  await until(
    'mail with the next key',
    async () => {
      await send()
      return (await arrived(ids.at(-1) as string)).selector?.startsWith('pr2-') === true
    },
    40_000,
  )
  const all = await Promise.all(ids.map(arrived))
  t.strictSame(new Set(all.map(({ verdict }) => verdict)), new Set([`pass ${name}`]))
  t.strictSame([...new Set(all.map(({ selector }) => selector?.slice(0, 3)))].sort(), ['pr1', 'pr2'])
})

t.test(
  'mail that was accepted before its domain was deleted is delivered and signed, though another added the name',
  async (t) => {
    const name = 'gone.example'
    publish(await domains.add({ accountId, name, state: 'active' }))
    // Not tried before, so that no worker knows the key already.
    const schedule = Math.floor(Date.now() / 1000) + 6 * 3600
    const id = await outbox.send('a@harbor.example', { ...from(name), schedule })
    await domains.remove(accountId, name, by)
    const other = await outbox.service.makeSender()
    publish(await domains.add({ accountId: other.accountId, name, state: 'active' }))
    await outbox.advance(7 * 60)
    t.match(await arrived(id), { verdict: `pass ${name}`, selector: /^pr1-/ })
  },
)
