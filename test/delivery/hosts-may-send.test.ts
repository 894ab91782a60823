import { dkimVerify } from 'mailauth/lib/dkim/verify.js'
import t from 'tap'
import { startSink } from '../helpers/sink.ts'
import { until } from '../helpers/until.ts'
import { mail, openSession, queueId } from '../relay/session.ts'
import { startOutbox } from './outbox.ts'

const ADVICE = '; send as an active domain, or set fallbackSender of the account'
const sink = await startSink(t)
const outbox = await startOutbox(t, { DELIVERY: `smtp://127.0.0.1:${sink.port}` })
const { service, sender } = outbox
await service.openRelay()
const { domain, accountId } = sender
const stranger = await service.makeSender()
const web1 = `web1.${domain}`

async function mailFrom(host: string): Promise<string> {
  const client = await openSession(t, service, sender)
  return client.command(`MAIL FROM:<root@${host}>`)
}

async function submit(host: string): Promise<string> {
  const client = await openSession(t, service, sender)
  return client.submit(`root@${domain}`, 'lena@harbor.example', mail({ ...sender, domain: host }))
}

const allow = async (hostsMaySend: boolean): Promise<void> => {
  await service.core.accounts.settings.change(accountId, { hostsMaySend }, { keyId: null, address: null })
  await until('the setting', async () => (await mailFrom(web1)).startsWith('250') === hostsMaySend, 5000)
}

t.test('hosts below an active domain may not send', async (t) => {
  t.equal(await mailFrom(web1), `550 5.7.1 Sender domain not active: ${web1} in MAIL FROM${ADVICE}`)
  t.equal(await submit(web1), `550 5.7.1 Sender domain not active: ${web1} in the From field${ADVICE}`)
})

t.test('with hostsMaySend they may: signed by the domain, with its return path, and From as it is', async (t) => {
  await allow(true)
  const client = await openSession(t, service, sender)
  const fields = 'X-CLICKTRACK: 1\r\nContent-Type: text/html\r\n'
  const body = '<a href="https://harbor.example/">Berth 4</a>\r\n'
  const message = mail({ ...sender, domain: web1 }, fields, body)
  const id = queueId(await client.submit(`root@${web1}`, 'lena@harbor.example', message))
  await outbox.inState(id, 'delivered')
  const found = sink.messages.find(({ data }) => data.includes(id))
  if (!found) throw new Error(`${id} did not arrive`)
  t.match(found.data.toString(), `From: Ship Desk <desk@${web1}>\r\n`)
  t.match(found.from, `@${service.config.returnPathHost}`)
  t.notMatch(found.data.toString(), 'href="https://harbor.example/"', 'the link is tracked')
  const { dns } = await service.core.domains.show(domain)
  const { results } = await dkimVerify(found.data, {
    resolver: async (name) => [[dns.find(({ host }) => host === name)?.value ?? '']],
  })
  t.match(results, [{ signingDomain: domain, status: { result: 'pass', aligned: domain } }])
})

t.test('so they may over HTTP', async (t) => {
  const id = await outbox.send('lena@harbor.example', { from: { fromEmail: `root@${web1}` } })
  await outbox.inState(id, 'delivered')
  t.pass()
})

t.test('a domain of another account, and a host below it, may not; a claim of it prevents nothing', async (t) => {
  const taken = `web2.${domain}`
  await service.core.domains.add({ accountId: stranger.accountId, name: taken, state: 'active' })
  for (const host of [taken, `a.${taken}`]) {
    t.match(await mailFrom(host), /^550 5\.7\.1 Sender domain not active/)
    t.match(await submit(host), /^550 5\.7\.1 Sender domain not active/)
  }
  await service.core.domains.add({ accountId: stranger.accountId, name: `web3.${domain}` })
  t.match(await mailFrom(`web3.${domain}`), /^250 /)
})

t.test(
  'nor may a host below a domain of another account alone, or a name that only ends like the domain',
  async (t) => {
    for (const host of [`web1.${stranger.domain}`, `x${domain}`]) {
      t.match(await mailFrom(host), /^550 5\.7\.1 Sender domain not active/)
      t.match(await submit(host), /^550 5\.7\.1 Sender domain not active/)
    }
  },
)

t.test('nor one below an own domain that the operator has rejected', async (t) => {
  const name = `blocked.${domain}`
  await service.core.domains.add({ accountId, name, state: 'active' })
  await service.sql`update domains set state = 'rejected' where name = ${name}`
  t.match(await submit(`a.${name}`), /^550 5\.7\.1 Sender domain not active/)
  t.match(await submit(name), /is rejected by the operator$/)
})

t.test('when the setting is off again, they may not', async (t) => {
  await allow(false)
  t.match(await submit(web1), /^550 5\.7\.1 Sender domain not active/)
})
