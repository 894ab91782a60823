import t from 'tap'
import { moveClock } from '../../helpers/database.ts'
import { numberEvents } from '../../helpers/number-events.ts'
import { call } from '../call.ts'
import { type ShownDomain, startDomains } from './domain.ts'

const { service, url, dns, done, newName, publish } = await startDomains(t, { DOMAIN_GRACE_HOURS: '1' })

t.test('an account is told when one of its domains may send, and when it no longer may', async (t) => {
  const { apiKey } = await service.makeSender()
  const told = async (): Promise<unknown[]> => {
    await numberEvents(service)
    const { json } = await call(url, {
      method: 'GET',
      path: '/v2/events/feed?after=0&types=domain',
      headers: { api_key: apiKey },
    })
    const data = json?.data as Record<string, unknown>[]
    t.ok(data.every(({ trid, messageId, email }) => [trid, messageId, email].every((value) => value === null)))
    return data.map(({ domain, before, after }) => [domain, before, after])
  }
  const [first] = await told()
  const name = newName()
  publish(await done<ShownDomain>(apiKey, 'domain', { domain: name }))
  t.strictSame(await told(), [first], 'one that waits for its records is no news')
  await done(apiKey, 'domain/verify', { domain: name })
  const active = [name, 'pending', 'active']
  t.strictSame(await told(), [first, active])
  await done(apiKey, 'domain/verify', { domain: name })
  t.strictSame(await told(), [first, active], 'told once')

  for (const host of Object.keys(dns.zones)) dns.zones[host] = { txt: ['nothing of ours'] }
  await done(apiKey, 'domain/verify', { domain: name })
  t.strictSame(await told(), [first, active], 'it has some time to be mended')
  await moveClock(service.sql, '61 minutes')
  await done(apiKey, 'domain/verify', { domain: name })
  const inactive = [name, 'active', 'inactive']
  t.strictSame(await told(), [first, active, inactive])

  await service.core.domains.activate(name)
  await done(apiKey, 'domain/delete', { domain: name })
  t.strictSame(await told(), [first, active, inactive, [name, 'inactive', 'active'], [name, 'active', 'deleted']])
})
