import t from 'tap'
import { makeService } from '../../helpers/service.ts'
import { call } from '../call.ts'

const noted = { action: 'template.create', object: 'template 12' } as const

t.test('listAudit', async (t) => {
  const service = await makeService(t)
  const url = await service.openApi()
  const note = (accountId: number, number: number) =>
    service.sql`select audit_note(${accountId}, 3, '192.0.2.9', ${noted.action}, ${noted.object}, null, ${`{"name": "t${number}"}`}::text::jsonb)`
  const list = async (apiKey: string, body: Record<string, unknown> = {}) =>
    (await call(url, { path: '/v2/audit', headers: { api_key: apiKey }, body })).json?.data as Record<string, unknown>[]

  await t.test('answers who changed what, from where and when, oldest first', async (t) => {
    const { accountId, apiKey } = await service.makeSender()
    const before = (await list(apiKey)).length
    await note(accountId, 1)
    await note(accountId, 2)
    const entries = (await list(apiKey)).slice(before)
    t.match(entries, [
      { number: before + 1, keyId: 3, ip: '192.0.2.9', ...noted, before: null, after: { name: 't1' } },
      { number: before + 2, after: { name: 't2' }, hash: /^[0-9a-f]{64}$/ },
    ])
    t.equal((await list(apiKey, { after: before + 1 })).length, 1, 'entries behind a number are a page')
    t.equal((await list(apiKey, { limit: 1 })).length, 1)
  })

  await t.test('refuses to change or forget an entry', async (t) => {
    const { accountId } = await service.makeSender()
    await note(accountId, 1)
    await t.rejects(service.sql`update audit_log set action = 'x' where account_id = ${accountId}`, /append only/)
    await t.rejects(service.sql`delete from audit_log where account_id = ${accountId}`, /append only/)
    await t.rejects(service.sql`truncate audit_log`, /append only/)
  })

  await t.test('shows where the table was altered from outside', async (t) => {
    const { accountId } = await service.makeSender()
    for (const number of [1, 2, 3]) await note(accountId, number)
    t.equal(await service.core.audit.firstBroken(accountId), null)
    for (const trigger of ['audit_log_append_only', 'audit_log_removal'])
      await service.sql`alter table audit_log disable trigger ${service.sql(trigger)}`
    await service.sql`update audit_log set object = 'template 13' where account_id = ${accountId} and after->>'name' = 't2'`
    const [row] =
      await service.sql`select number from audit_log where account_id = ${accountId} and after->>'name' = 't2'`
    t.equal(await service.core.audit.firstBroken(accountId), Number(row?.number))
    await service.sql`delete from audit_log where account_id = ${accountId} and after->>'name' = 't2'`
    t.equal(await service.core.audit.firstBroken(accountId), Number(row?.number) + 1, 'an entry that is gone shows too')
    for (const trigger of ['audit_log_append_only', 'audit_log_removal'])
      await service.sql`alter table audit_log enable trigger ${service.sql(trigger)}`
  })

  await t.test('chains entries of parallel changes without a gap', async (t) => {
    const { accountId } = await service.makeSender()
    await Promise.all(Array.from({ length: 40 }, (_, number) => note(accountId, number)))
    t.equal(await service.core.audit.firstBroken(accountId), null)
  })
})
