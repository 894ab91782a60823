import { V3_OPERATIONS } from '@postrider/api'
import { JSON_TYPE } from '../call.ts'
import { addPast, type PastDelivery } from '../v2/history.ts'
import { calledBy } from './called.ts'
import type { Recorder } from './recorder.ts'
import { v3MessageFrom } from './v3-mail.ts'
import { type Row, recordSamples, rowOf } from './v3-row.ts'
import type { Owner, World } from './world.ts'

/** All operations of v3 except mail/send. */
export async function recordV3(recorder: Recorder, world: World): Promise<void> {
  const owner = await world.makeOwner('v3-calls')
  const bearer = { authorization: `Bearer ${owner.key}` }
  const row = rowOf(recorder, bearer)
  const templateId = await recordTemplates(row)
  const groupId = await recordGroups(row)
  for (const categories of [['a'], ['a', 'b']]) {
    const body = { ...v3MessageFrom(owner), categories, asm: { group_id: groupId } }
    const headers = { ...bearer, ...JSON_TYPE }
    await recorder.ask(`sendMail with categories ${categories}`, { path: '/v3/mail/send', headers, body })
    await world.deliver()
  }
  await recordStats(row)
  await recordSuppressions(row, world, owner)
  await recordBatches(row)
  await recordKeys(row)
  await recordWebhooks(row, world)
  await recordSettings(row)
  await recordForm(recorder, owner)
  await row('deleteTemplate', 'DELETE /templates/:template_id', { params: { template_id: templateId } })
  await row('deleteGroup', 'DELETE /asm/groups/:group_id', { params: { group_id: groupId } })
  for (const path of ['/v3', '/v3/', '/v3/nowhere', '/v3/templates/a/b/c', '/v3/%ff', '/V3/SCOPES', '/v3/scopes/']) {
    await recorder.ask(`the path ${path}`, { method: 'GET', path, headers: bearer })
  }
  for (const authorization of ['Bearer nope', 'Bearer ', 'Basic YTpi', owner.key]) {
    await recorder.ask('another key', { method: 'GET', path: '/v3/scopes', headers: { authorization } })
  }
  await recorder.ask('on behalf of nobody', {
    method: 'GET',
    path: '/v3/scopes',
    headers: { ...bearer, 'on-behalf-of': 'nobody' },
  })
  const called = calledBy(recorder.calls)
  await recordSamples(
    row,
    world,
    owner,
    V3_OPERATIONS.filter(({ name, sends }) => !sends && !called.has(`v3 ${name}`)),
  )
}

/** The Web API before v3. */
async function recordForm(recorder: Recorder, { key, domain }: Owner): Promise<void> {
  const ask = (title: string, fields: Readonly<Record<string, string>>, method = 'POST') =>
    recorder.ask(`sendForm ${title}`.trim(), {
      method,
      path: '/api/mail.send.json',
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      body: new URLSearchParams(fields).toString(),
    })
  const least = { 'to[]': 'lena@harbor.example', from: `desk@${domain}`, subject: 'Berth 4', text: 'It is ready.' }
  await ask('', { ...least, api_key: key })
  await ask('without a key', least)
  await ask('without fields', { api_key: key })
  await ask('with wrong directives', { ...least, 'x-smtpapi': '{"to":1}', api_key: key })
  await ask('with another method', least, 'PUT')
}

async function recordTemplates(row: Row): Promise<unknown> {
  const { id } = await row('createTemplate', 'POST /templates', { body: { name: 'berth', generation: 'dynamic' } })
  const params = { template_id: id }
  await row('listTemplates', 'GET /templates', {
    query: { generations: 'legacy,dynamic', page_size: 2, page_token: 'a' },
  })
  await row('renameTemplate', 'PATCH /templates/:template_id', { params, body: { name: 'quay' } })
  await row('duplicateTemplate', 'POST /templates/:template_id', { params, body: { name: 'copy' } })
  const body = {
    name: 'first',
    subject: 'Hi {{name}}',
    html_content: '<p>Hi {{name}}</p>',
    plain_content: 'Hi',
    generate_plain_content: false,
    active: 1,
    editor: 'code',
    test_data: '{"name":"Lena"}',
  }
  const version = await row('addTemplateVersion', 'POST /templates/:template_id/versions', { params, body })
  const both = { ...params, version_id: version.id }
  const { id: other } = await row('createTemplate', 'POST /templates', {
    body: { name: 'pier', generation: 'dynamic' },
  })
  const ofOther = { params: { template_id: other } }
  await row('addTemplateVersion', 'POST /templates/:template_id/versions', { ...ofOther, body })
  await row('renameTemplate', 'PATCH /templates/:template_id', { ...ofOther, body: { name: 'quay' } })
  await row('duplicateTemplate', 'POST /templates/:template_id', { ...ofOther, body: { name: 'copy' } })
  await row('listTemplates', 'GET /templates', { query: { generations: 'dynamic', page_size: 2 } })
  const path = '/templates/:template_id/versions/:version_id'
  await row('viewTemplateVersion', `GET ${path}`, { params: both })
  await row('editTemplateVersion', `PATCH ${path}`, {
    params: both,
    body: { ...body, html_content: '<p>Dear {{name}}</p>' },
  })
  await row('editTemplateVersion', `PATCH ${path}`, { params: both, body: { html_content: '{{#if}}' } })
  await row('editTemplateVersion', `PATCH ${path}`, {
    params: both,
    body: { name: 'second', subject: 'S', html_content: body.html_content },
  })
  await row('activateTemplateVersion', `POST ${path}/activate`, { params: both })
  await row('viewTemplate', 'GET /templates/:template_id', { params })
  await row('deleteTemplateVersion', `DELETE ${path}`, { params: both })
  return id
}

async function recordGroups(row: Row): Promise<unknown> {
  const body = { name: 'News', description: 'What is new', is_default: true }
  const { id } = await row('createGroup', 'POST /asm/groups', { body })
  const params = { group_id: id }
  const email = 'lena@quay.example'
  const recipients = { recipient_emails: [email, 'Nils@quay.example'] }
  await row('listGroups', 'GET /asm/groups', { query: { id } })
  await row('viewGroup', 'GET /asm/groups/:group_id', { params })
  await row('editGroup', 'PATCH /asm/groups/:group_id', { params, body: { ...body, name: 'Old news' } })
  const path = '/asm/groups/:group_id/suppressions'
  await row('addToGroup', `POST ${path}`, { params, body: recipients })
  await row('addToGroup', `POST ${path}`, { params, body: { recipient_emails: ['nobody', 7] } })
  await row('listGroupSuppressions', `GET ${path}`, { params, query: { limit: 10, offset: 0 } })
  await row('searchGroupSuppressions', `POST ${path}/search`, { params, body: recipients })
  await row('listGroupsSuppressed', 'GET /asm/suppressions', { query: { limit: 10, offset: 0 } })
  await row('viewGroupsOf', 'GET /asm/suppressions/:email', { params: { email } })
  await row('removeFromGroup', `DELETE ${path}/:email`, { params: { ...params, email } })
  await row('addToGlobal', 'POST /asm/suppressions/global', { body: recipients })
  await row('viewGlobal', 'GET /asm/suppressions/global/:email', { params: { email } })
  await row('removeFromGlobal', 'DELETE /asm/suppressions/global/:email', { params: { email } })
  return id
}

async function recordStats(row: Row): Promise<void> {
  const days = { start_date: '2026-03-01', end_date: '2026-03-04', aggregated_by: 'day', limit: 10, offset: 0 }
  await row('getStats', 'GET /stats', { query: days })
  await row('listCategories', 'GET /categories', { query: { limit: 10, offset: 0, category: 'a', sort_by: 'name' } })
  await row('getCategoryStats', 'GET /categories/stats', { query: { ...days, categories: 'a' } })
  await row('getCategorySums', 'GET /categories/stats/sums', {
    query: { ...days, sort_by_metric: 'delivered', sort_by_direction: 'asc' },
  })
  await row('getMailboxProviderStats', 'GET /mailbox_providers/stats', {
    query: { ...days, mailbox_providers: 'Gmail' },
  })
}

const LISTS: Readonly<Record<string, 'hardbounce' | 'abuse' | 'unsubscribe' | undefined>> = {
  bounces: 'hardbounce',
  spam_reports: 'abuse',
  unsubscribes: 'unsubscribe',
  blocks: undefined,
  invalid_emails: undefined,
}

const BOUNCED = (
  [
    ['bad-mailbox', '5.1.1', 'No such mailbox'],
    ['spam', '5.7.1', 'Message looks like spam'],
    ['bad-domain', '5.1.2', 'No such domain'],
  ] as const
).map(
  ([name, enhanced, reply]): PastDelivery => ({
    state: 'bounced',
    recipient: `${name}@quay.example`,
    events: [{ type: 'bounced', at: '2026-03-02T10:00:00Z', detail: { class: name, code: 550, enhanced, reply } }],
  }),
)

async function recordSuppressions(row: Row, { service }: World, owner: Owner): Promise<void> {
  const { accountId } = owner
  for (const [list, reason] of Object.entries(LISTS)) {
    const email = `${list}@quay.example`
    for (const value of [email, `other-${email}`]) {
      if (reason) await service.core.suppressions.add({ accountId, scope: 'address', value, reason })
    }
    const query = { start_time: 1_700_000_000, end_time: 1_800_000_000, limit: 10, offset: 0, email: 'quay' }
    await row(`list ${list}`, `GET /suppression/${list}`, { query })
    await row(`view ${list}`, `GET /suppression/${list}/:email`, { params: { email } })
    if (list === 'spam_reports') {
      const params = { email: `other-${email}` }
      await row('viewSpamReport', 'GET /suppression/spam_report/:email', { params })
      await row('deleteSpamReport', 'DELETE /suppression/spam_report/:email', { params })
    }
    if (list === 'unsubscribes') continue
    await row(`delete ${list} of`, `DELETE /suppression/${list}/:email`, { params: { email } })
    const body = { emails: [email, `other-${email}`] }
    await row(`delete ${list}`, `DELETE /suppression/${list}`, { body })
    await row(`delete ${list}`, `DELETE /suppression/${list}`, { body: { ...body, delete_all: true } })
    await row(`delete ${list}`, `DELETE /suppression/${list}`, { body: { delete_all: true } })
  }
  await addPast(service, owner, { acceptedAt: '2026-03-02T09:00:00Z', deliveries: BOUNCED })
  for (const [list, name, email] of [
    ['blocks', 'Blocks', 'spam@quay.example'],
    ['invalid_emails', 'InvalidEmails', 'bad-domain@quay.example'],
  ]) {
    await row(`list${name}`, `GET /suppression/${list}`)
    await row(`view${name}`, `GET /suppression/${list}/:email`, { params: { email } })
  }
  const query = { start_date: '2026-03-01', end_date: '2026-03-04' }
  for (const path of ['/suppression/bounces/classifications', '/suppressions/bounces/classifications']) {
    await row('countBounceClassifications', `GET ${path}`, { query })
    const params = { classification: 'Invalid Address' }
    await row('countBouncesOf', `GET ${path}/:classification`, { params, query })
  }
}

async function recordBatches(row: Row): Promise<void> {
  const { batch_id } = await row('createBatch', 'POST /mail/batch')
  const params = { batch_id }
  await row('viewBatch', 'GET /mail/batch/:batch_id', { params })
  await row('holdBatch', 'POST /user/scheduled_sends', { body: { batch_id, status: 'pause' } })
  await row('listHeldBatches', 'GET /user/scheduled_sends')
  await row('viewHeldBatch', 'GET /user/scheduled_sends/:batch_id', { params })
  await row('changeHeldBatch', 'PATCH /user/scheduled_sends/:batch_id', { params, body: { status: 'cancel' } })
  await row('resumeBatch', 'DELETE /user/scheduled_sends/:batch_id', { params })
}

async function recordKeys(row: Row): Promise<void> {
  await row('listScopes', 'GET /scopes')
  const body = { name: 'shop', scopes: ['mail.send', 'templates.read'] }
  const { api_key_id } = await row('createKey', 'POST /api_keys', { body })
  await row('createKey', 'POST /api_keys', { body: { name: 'till', scopes: ['no.such.scope'] } })
  const params = { api_key_id }
  await row('listKeys', 'GET /api_keys', { query: { limit: 2 } })
  await row('viewKey', 'GET /api_keys/:api_key_id', { params })
  await row('renameKey', 'PATCH /api_keys/:api_key_id', { params, body: { name: 'till' } })
  await row('replaceKey', 'PUT /api_keys/:api_key_id', { params, body })
  await row('deleteKey', 'DELETE /api_keys/:api_key_id', { params })
}

async function recordWebhooks(row: Row, { receiverUrl: url }: World): Promise<void> {
  const path = '/user/webhooks/event'
  const oauth = { oauth_client_id: 'a', oauth_client_secret: 'b', oauth_token_url: url }
  const body = { enabled: true, url, friendly_name: 'desk', delivered: true, open: false }
  const { id } = await row('createWebhook', `POST ${path}/settings`, { body })
  const params = { id }
  await row('createWebhook', `POST ${path}/settings`, { body: { url: 'http://127.0.0.1:1/' } })
  await row('createWebhook', `POST ${path}/settings`, { body: { ...body, ...oauth } })
  await row('listWebhooks', `GET ${path}/settings/all`)
  await row('viewOldestWebhook', `GET ${path}/settings`)
  await row('editOldestWebhook', `PATCH ${path}/settings`, { body: { url, click: true } })
  await row('viewWebhook', `GET ${path}/settings/:id`, { params })
  await row('editWebhook', `PATCH ${path}/settings/:id`, { params, body: { enabled: false, bounce: true } })
  await row('viewOldestWebhookSigning', `GET ${path}/settings/signed`)
  await row('signOldestWebhook', `PATCH ${path}/settings/signed`, { body: { enabled: true } })
  await row('viewOldestWebhookSigning', `GET ${path}/settings/signed`)
  await row('viewWebhookSigning', `GET ${path}/settings/signed/:id`, { params })
  await row('signWebhook', `PATCH ${path}/settings/signed/:id`, { params, body: { enabled: true } })
  await row('testWebhook', `POST ${path}/test`, { body: { url, id } })
  await row('deleteWebhook', `DELETE ${path}/settings/:id`, { params })
}

const SETTINGS = {
  tracking_settings: ['click', 'google_analytics', 'open', 'subscription'],
  mail_settings: ['address_whitelist', 'bounce_purge', 'footer', 'forward_bounce', 'forward_spam', 'template'],
} as const

async function recordSettings(row: Row): Promise<void> {
  for (const [kind, names] of Object.entries(SETTINGS)) {
    for (const name of names) {
      const body = { enabled: true, html_content: '<p>Ship</p>', plain_content: 'Ship' }
      await row(`change ${name}`, `PATCH /${kind}/${name}`, { body: name === 'footer' ? body : { enabled: true } })
      await row(`change ${name}`, `PATCH /${kind}/${name}`, { body: { enabled: false } })
      await row(`view ${name}`, `GET /${kind}/${name}`)
    }
    await row(`list ${kind}`, `GET /${kind}`)
  }
  await row('viewUsername', 'GET /user/username')
  const subuser = { username: 'dock7', email: 'dock7@ship.example', password: 'Anchor77x' }
  await row('createSubuser', 'POST /subusers', { body: subuser })
  await row('viewProfile', 'GET /user/profile')
  await row('viewAccount', 'GET /user/account')
  await row('viewEmail', 'GET /user/email')
  await row('viewCredits', 'GET /user/credits')
  const tls = '/user/settings/enforced_tls'
  await row('viewEnforcedTls', `GET ${tls}`)
  for (const [what, body] of [
    ['', { require_tls: true }],
    [' certificates', { require_valid_cert: true }],
    [' contradiction', { require_tls: false, require_valid_cert: true }],
    [' version', { version: 1.3 }],
    [' text', { require_tls: 'yes' }],
    [' off', { require_tls: false }],
  ] as const) {
    await row(`changeEnforcedTls${what}`, `PATCH ${tls}`, { body })
  }
}
