import t from 'tap'
import { makeService } from '../helpers/service.ts'
import { plainToken, type SmtpClient } from '../helpers/smtp-client.ts'
import { connectRelay, mail, openSession, shown } from './session.ts'

const service = await makeService(t)
await service.openRelay()
const { core } = service
const owner = await service.makeSender()
const stranger = await service.makeSender()

/** Tries to send the owner's mail, and returns the first reply that refuses it, or that to the message. */
async function outcomeOf(client: SmtpClient, credentials?: string): Promise<string> {
  await client.command('EHLO client.test')
  if (credentials !== undefined) {
    const reply = await client.command(`AUTH PLAIN ${plainToken('apikey', credentials)}`)
    if (!reply.startsWith('235')) return reply
  }
  for (const command of [`MAIL FROM:<desk@${owner.domain}>`, 'RCPT TO:<lena@harbor.example>', 'DATA']) {
    const reply = await client.command(command)
    if (!/^[23]/.test(reply)) return reply
  }
  return client.finish(mail(owner))
}

t.test('mail of a domain is for the keys of its account that may send, and for no others', async (t) => {
  const { secret: reader } = await core.auth.createKey({ accountId: owner.accountId, scopes: ['stats'] })
  for (const [who, credentials, expected] of [
    ['without a key', undefined, /^530 5\.7\.0/],
    ['with a wrong key', `${owner.apiKey.slice(0, -4)}AAAA`, /^535 5\.7\.8/],
    ['with a key of another scope', reader, /^5\d\d 5\.7/],
    ['with the key of another account', stranger.apiKey, /^550 5\.7\.1/],
    ['with a key of the account', owner.apiKey, /^250 2\.0\.0 Ok: queued/],
  ] as const)
    t.match(await outcomeOf(await connectRelay(t, service, { tls: true }), credentials), expected, who)
})

t.test('what X-SMTPAPI names is used for the mail of its account, and is unknown to others', async (t) => {
  const { id: group } = await core.groups.create(owner.accountId, {
    name: 'Offers',
    description: 'x',
    isDefault: false,
  })
  const { id: template } = await core.editableTemplates.create({
    accountId: owner.accountId,
    name: 'Berth',
    generation: 'legacy',
  })
  await core.editableTemplates.addVersion(
    { accountId: owner.accountId, id: template },
    { name: 'one', subject: '<%subject%>', html: '<%body%>', active: true },
  )
  const batch = await core.batches.create(owner.accountId)
  const NEVER = {
    group: 2_000_000_000,
    template: '00000000-0000-4000-8000-000000000000',
    batch: 'bm9uZQ',
  }
  const fields = (ids: { group: unknown; template: unknown; batch: unknown }) => ({
    asm_group_id: { asm_group_id: ids.group },
    batch_id: { batch_id: ids.batch },
    template_id: { filters: { templates: { settings: { enable: 1, template_id: ids.template } } } },
  })
  const own = fields({ group, template, batch })
  const never = fields(NEVER)
  for (const name of Object.keys(own) as (keyof typeof own)[]) {
    const send = async (sender: typeof owner, api: object) => {
      const client = await openSession(t, service, sender)
      const message = mail(sender, `X-SMTPAPI: ${JSON.stringify(api)}\r\n`)
      const { deliveries, events } = await shown(
        service,
        await client.submit(`desk@${sender.domain}`, 'lena@harbor.example', message),
      )
      return { state: deliveries[0]?.state, problem: (events[0]?.detail as { problem?: string } | null)?.problem }
    }
    const refused = await send(stranger, own[name])
    t.match(refused, { state: 'dropped', problem: /does not exist/ }, name)
    t.strictSame(refused, await send(stranger, never[name]), `${name}: as one that never was`)
    t.match(await send(owner, own[name]), { state: 'queued' }, `${name}: its owner`)
  }
})
