import { OPERATOR } from '@postrider/core'
import t from 'tap'
import { makeService } from '../../helpers/service.ts'
import { ask, refusedV3 } from './ask.ts'
import { proves } from './conformance/proves.ts'
import { sendgridClient } from './sendgrid-client.ts'

const service = await makeService(t)
const base = await service.openApi()

t.test('members and open invitations are listed, and a key cannot invite people', async (t) => {
  proves(t, 'operation.listTeammates', 'operation.viewTeammate', 'operation.listPendingTeammates')
  proves(t, 'operation.inviteTeammate')
  const { people } = service.core
  const { accountId, apiKey: key } = await service.makeSender()
  const get = async (url: string) => (await sendgridClient(base, key)({ method: 'GET', url: `/v3/teammates${url}` }))[1]
  t.strictSame(await get(''), { result: [] })
  t.strictSame(await get('/pending'), { result: [] })
  const id = await people.users.create({ name: 'Ada Quay Lovelace', email: 'ada@team.example' }, OPERATOR)
  await people.members.add(accountId, id, 'owner', OPERATOR)
  await people.invitations.create(accountId, { email: 'bob@team.example', role: 'developer' }, OPERATOR)
  const ada = {
    username: 'ada@team.example',
    email: 'ada@team.example',
    first_name: 'Ada',
    last_name: 'Quay Lovelace',
    user_type: 'owner',
    is_admin: true,
  }
  t.match(await get(''), { result: [ada] })
  t.strictSame(await get('?limit=10&offset=1'), { result: [] })
  t.match(await get('/ada@team.example'), { ...ada, scopes: [] })
  t.match(await get('/pending'), {
    result: [{ email: 'bob@team.example', is_admin: false, token: /^\d+$/, expiration_date: Number }],
  })
  refusedV3(t, await ask(base, { path: '/teammates', key, body: { email: 'c@team.example' } }), [
    400,
    /a key cannot invite/,
  ])
  const { apiKey } = await service.makeSender()
  t.equal((await ask(base, { method: 'GET', path: '/teammates/ada@team.example', key: apiKey })).status, 404)
})

t.test('there are no alerts, and creating one says why', async (t) => {
  proves(t, 'operation.listAlerts', 'operation.createAlert')
  const { apiKey: key } = await service.makeSender()
  t.strictSame((await ask(base, { method: 'GET', path: '/alerts', key })).json, [])
  refusedV3(t, await ask(base, { path: '/alerts', key, body: { type: 'stats_notification' } }), [
    400,
    /notices by mail/,
  ])
  t.equal((await ask(base, { method: 'GET', path: '/alerts/1', key })).status, 404)
})

t.test('the networks of the calling key are listed, and are changed with the key alone', async (t) => {
  proves(
    t,
    'operation.listAllowedIps',
    'operation.addAllowedIps',
    'operation.removeAllowedIps',
    'operation.listAccessAttempts',
  )
  const { accountId, apiKey } = await service.makeSender()
  const get = async (key: string, path: string) =>
    (await ask(base, { method: 'GET', path: `/access_settings/${path}`, key })).json
  t.strictSame(await get(apiKey, 'whitelist'), { result: [] })
  const { secret } = await service.core.auth.createKey({
    accountId,
    scopes: ['keys'],
    networks: ['127.0.0.0/8'],
  } as never)
  t.match(await get(secret, 'whitelist'), {
    result: [{ id: 1, ip: '127.0.0.0/8', created_at: Number, updated_at: Number }],
  })
  t.strictSame(await get(apiKey, 'activity'), { result: [] })
  for (const method of ['POST', 'DELETE']) {
    const answer = await ask(base, {
      method,
      path: '/access_settings/whitelist',
      key: apiKey,
      body: { ips: [{ ip: '192.0.2.1' }] },
    })
    refusedV3(t, answer, [400, /Networks are set for each key/])
  }
})
