import t from 'tap'
import { freePorts } from '../helpers/ports.ts'
import { startProcess } from '../helpers/processes.ts'
import { until } from '../helpers/until.ts'
import { openDashboard, submit } from './dashboard.ts'

/** A process, which hands to a thread what would hold up its other calls. */
const dashboard = await openDashboard(t)
const { service } = dashboard
const ada = await dashboard.owner()
const { accountId } = ada
const [port] = await freePorts(1)
await startProcess(t, 'api', { ...service.env, API_PORT: String(port) })
const url = `http://127.0.0.1:${port}`
const post = (path: string) => submit(url, `/app/${accountId}${path}`, {}, { cookie: ada.cookie })
const text = async (path: string) =>
  (await fetch(`${url}/app/${accountId}${path}`, { headers: { cookie: ada.cookie } })).text()
const { secret: apiKey } = await service.core.auth.createKey({ accountId })
const call = async (path: string, body: unknown) => {
  const headers = { api_key: apiKey, 'content-type': 'application/json' }
  const response = await fetch(`${url}/v2${path}`, { method: 'POST', headers, body: JSON.stringify(body) })
  return (await response.json()) as { data: Record<string, unknown> }
}
const domain = 'northwind.example'
await service.giveKey(domain)
await service.core.domains.add({ accountId, name: domain, state: 'active' })

t.test('a message of many recipients is sent again from its page', async (t) => {
  const { data } = await call('/sendEmail', {
    from: { fromEmail: `desk@${domain}`, fromName: 'Desk' },
    subject: 'Berth 4',
    content: '<p>Hello</p>',
    personalizations: Array.from({ length: 300 }, (_, at) => ({ recipient: `r${at}@harbor.example` })),
  })
  const again = await post(`/messages/${data.message_id}/resend`)
  t.equal(again.status, 303)
  const [, id = ''] = /messages\/([0-9a-f]{32})\?said=sentAgain$/.exec(again.headers.get('location') ?? '') ?? []
  t.not(id, data.message_id)
  t.equal((await service.core.messages.show(id))?.deliveries.length, 300)

  await service.core.domains.remove(accountId, domain, { keyId: null, address: null })
  // Processes know the domains of some seconds ago.
  const refused = await until('a refusal', async () => {
    const response = await post(`/messages/${data.message_id}/resend`)
    return response.status === 303 ? undefined : response
  })
  t.equal(refused.status, 400)
  t.match(await refused.text(), /domain/i)
})

t.test('a large template is shown as it looks', async (t) => {
  const content = `<p>Hello [%NAME%]</p>${'<i>x</i>'.repeat(40_000)}`
  const { data } = await call('/template', { templateName: 'large', content })
  const page = await text(`/templates/${data.templateId}`)
  t.match(page, 'NAME', 'the tag without a value')
})

t.test('what a role may do on a page does not end with the size of the message or the template', async (t) => {
  const { core } = service
  const { id } = await core.accounts.create('northwind')
  const own = 'harbour.example'
  await service.giveKey(own)
  await core.domains.add({ accountId: id, name: own, state: 'active' })
  const { secret } = await core.auth.createKey({ accountId: id })
  const send = async (path: string, body: unknown) => {
    const headers = { api_key: secret, 'content-type': 'application/json' }
    const response = await fetch(`${url}/v2${path}`, { method: 'POST', headers, body: JSON.stringify(body) })
    return (await response.json()) as { data: Record<string, unknown> }
  }
  const { data } = await send('/sendEmail', {
    from: { fromEmail: `desk@${own}`, fromName: 'Desk' },
    subject: 'Berth 4',
    content: '<p>Hello</p>',
    personalizations: Array.from({ length: 300 }, (_, at) => ({ recipient: `r${at}@harbor.example` })),
  })
  const support = await dashboard.member(id, 'support')
  const again = await submit(url, `/app/${id}/messages/${data.message_id}/resend`, {}, { cookie: support.cookie })
  t.match(again.headers.get('location'), 'said=sentAgain', 'support sends a message of many recipients again')

  const content = `<p>Hello [%NAME%]</p>${'<i>x</i>'.repeat(40_000)}`
  const { data: template } = await send('/template', { templateName: 'large', content })
  const session = await core.people.sessions.find(decodeURIComponent(ada.cookie.split('=')[1] as string))
  await core.people.lookAs(session as never, id, '192.0.2.1')
  // The other process knows the session of some seconds ago.
  const looking = await until('the page for an operator who looks at the account', async () => {
    const headers = { cookie: ada.cookie }
    const response = await fetch(`${url}/app/${id}/templates/${template.templateId}`, { headers })
    return response.status === 404 ? undefined : response
  })
  t.equal(looking.status, 200, 'an operator who looks at the account')
  t.match(await looking.text(), '<code>NAME</code>')
})

t.test('a template that no form can hold is shown without an editor, whose input would be lost', async (t) => {
  const content = `<p>Hello [%NAME%]</p>${'<i>x</i>'.repeat(150_000)}`
  const { data } = await call('/template', { templateName: 'larger', content })
  const page = await text(`/templates/${data.templateId}`)
  t.match(page, 'This version has 1.2 MB, too much for the editor')
  t.match(page, '<code>NAME</code>')
  t.notMatch(page, '<textarea')
  t.match(await text(`/templates/${data.templateId}/versions/1/preview`), '<p>Hello </p><i>x</i>')
})
