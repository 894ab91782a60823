import { generateKeyPairSync } from 'node:crypto'
import { OPERATIONS } from '@postrider/api'
import { calledBy } from './called.ts'
import type { Recorder } from './recorder.ts'
import { messageFrom } from './v2-mail.ts'
import { type Row, recordExamples, rowOf } from './v2-row.ts'
import type { Owner, World } from './world.ts'

/** All operations of v2 but sendEmail. */
export async function recordV2(recorder: Recorder, world: World): Promise<void> {
  const owner = await world.makeOwner('v2-calls')
  const row = rowOf(recorder, owner.key)
  await recordDomains(row, world)
  await recordSuppressions(row, recorder, owner)
  await recordTemplates(row)
  await recordAttachments(row)
  await recordSubaccounts(row)
  await recordKeys(row)
  for (const tags of ['a', 'a,b', 'c']) {
    const file = { fileName: 'rules.txt', fileContent: 'cnVsZXM=' }
    const body = { ...messageFrom(owner), tags, ...(tags === 'c' ? { attachments: [file] } : {}) }
    await recorder.ask(`sendEmail: with tags ${tags}`, { path: '/v2/sendEmail', headers: { api_key: owner.key }, body })
    await world.deliver()
  }
  await row('checkEmail', 'POST /sendEmail/check', messageFrom(owner))
  await recordReports(row)
  const later = await recorder.ask('sendEmail: scheduled', {
    path: '/v2/sendEmail',
    headers: { api_key: owner.key },
    body: { ...messageFrom(owner), schedule: '2026-03-10T09:00:00Z' },
  })
  const { message_id: messageId = '' } = (later.json?.data ?? {}) as { message_id?: string }
  const schedule = '2026-03-11T09:00:00[Europe/Berlin]'
  await row('rescheduleMessage', 'PATCH /messages/:messageId', { schedule }, { messageId })
  await row('cancelMessage', 'POST /messages/:messageId/cancel', { recipients: [0] }, { messageId })
  await recordExports(row, recorder, world)
  await recordWebhooks(row, world)
  await row('showAccount', 'GET /account')
  await row('changeAccount', 'POST /account', {
    openTracking: true,
    clickTracking: 0,
    unsubscribeLink: '1',
    footerHtml: '<p>Ship</p>',
    footerText: 'Ship',
    privacyMode: false,
    timeZone: 'Europe/Lisbon',
    eventDays: 28,
    bodyDays: 7,
  })
  await row('forgetPerson', 'POST /gdpr/forget', { email: 'nina@harbor.example' })
  const { requestId } = await row('forgetPerson', 'DELETE /gdpr', { email: 'nils@harbor.example' })
  await row('showForgetRequest', 'GET /gdpr/forget/:requestId', {}, { requestId })
  await row('exportPerson', 'POST /gdpr/export', { email: 'lena@harbor.example', limit: 10 })
  await row('listAudit', 'GET /audit', { after: 0, limit: 30 })
  await recordPaths(recorder, owner)
  const called = calledBy(recorder.calls)
  await recordExamples(
    recorder,
    world,
    owner,
    OPERATIONS.filter(({ name, submits }) => !submits && !called.has(name)),
  )
}

async function recordDomains(row: Row, { zones }: World): Promise<void> {
  const domain = 'berth.example'
  const added = await row('addDomain', 'POST /domain', { domain, envelopeName: 'track' })
  await row('listDomains', 'GET /domains', { status: '0', limit: 10, offset: 0 })
  await row('verifyDomain', 'POST /domain/verify', { domain })
  for (const { type, host, value } of added.dns as { type: string; host: string; value: string }[]) {
    zones[host] = type === 'TXT' ? { txt: [value] } : { cname: value }
  }
  await row('verifyDomain', 'POST /domain/verify', { domain })
  await row('showDmarc', 'GET /domain/dmarc', { domain, days: 30 })
  await row('rotateDkim', 'POST /domain/rotateDkim', { domain })
  const { privateKey } = generateKeyPairSync('rsa', {
    modulusLength: 2048,
    publicKeyEncoding: { type: 'spki', format: 'pem' },
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
  })
  await row('setDkimKey', 'POST /domain/dkimKey', { domain, selector: 'own1', privateKey })
  await row('shareDomain', 'POST /domain/share', { domain, shared: true })
  await row('listDomains', 'GET /domain/getDomains', { domain })
  await row('deleteDomain', 'DELETE /domain/delete', { domain })
}

async function recordSuppressions(row: Row, recorder: Recorder, { key }: Owner): Promise<void> {
  const email = 'x@harbor.example'
  await row('addSuppression', 'POST /suppression', { email: `${email},y@harbor.example`, domain: 'spam.example' })
  await row('addSuppression', 'POST /suppression', { email: ['z@harbor.example'], reason: 'abuse' })
  await row('listSuppressions', 'GET /suppression', { reason: 'manual', limit: 100, offset: 0 })
  await row('checkSuppression', 'POST /suppression/check', { email })
  const path = '/v2/suppression/import'
  for (const text of ['email,reason\na@harbor.example,manual\nnobody,abuse\n', 'email\n', '"', '', 'colour\nred\n']) {
    for (const headers of [{ 'content-type': 'text/csv' }, { 'content-type': 'application/json' }]) {
      for (const atomic of ['', '?atomic=true', '?atomic=perhaps']) {
        const call = { path: `${path}${atomic}`, headers: { api_key: key, ...headers }, body: text }
        await recorder.ask('importSuppressions', call)
      }
    }
  }
  await row('exportSuppressions', 'GET /suppression/export')
  await row('removeSuppression', 'POST /suppression/remove', { email, domain: 'spam.example' })
}

async function recordTemplates(row: Row): Promise<void> {
  const variables = [{ name: 'NAME', type: 'string', required: true }]
  const content = '%3Cp%3EHi%20%5B%25NAME%25%5D%3C%2Fp%3E'
  const whole = { templateName: 'berth_ready', content, subject: 'Berth [%BERTH%]', variables }
  const { templateId } = await row('createTemplate', 'POST /template', whole)
  const at = { templateId }
  await row('editTemplate', 'PATCH /template/:templateId', { ...whole, templateName: 'berth_free' }, at)
  await row('viewTemplate', 'GET /template/:templateId', {}, at)
  await row('viewTemplate', 'POST /getTemplate', at)
  await row('listTemplates', 'GET /templates', { limit: 10, offset: 0 })
  await row('addTemplateVersion', 'POST /template/:templateId/versions', { content, subject: 'Free' }, at)
  await row('listTemplateVersions', 'GET /template/:templateId/versions', {}, at)
  await row('viewTemplateVersion', 'GET /template/:templateId/versions/:version', {}, { ...at, version: 1 })
  await row('activateTemplateVersion', 'POST /template/:templateId/activate', { version: 1 }, at)
  await row('renderTemplate', 'POST /template/:templateId/render', { attributes: { NAME: 'Lena' }, subject: 'S' }, at)
  await row('deleteTemplate', 'DELETE /template/:templateId', {}, at)
}

async function recordAttachments(row: Row): Promise<void> {
  const { attachmentId } = await row('uploadAttachment', 'POST /attachment', {
    fileName: 'rules.txt',
    fileContent: 'UnVsZXM=',
  })
  await row('listAttachments', 'GET /attachments', { limit: 10, offset: 0 })
  await row('deleteAttachment', 'DELETE /attachment/:attachmentId', {}, { attachmentId })
}

async function recordSubaccounts(row: Row): Promise<void> {
  const username = 'dock2'
  const password = 'Anchor77x'
  const email = 'd2@ship.example'
  await row('createSubaccount', 'POST /subaccounts/createSubaccount', { username, email, setpassword: '1', password })
  await row('updateSubaccount', 'POST /subaccounts/updateSubaccount', {
    username,
    new_email: 'dock@ship.example',
    new_password: 'Anchor78x',
    confirm_password: 'Anchor78x',
  })
  await row('setSubaccountState', 'PATCH /subaccounts', { username, disabled: true })
  await row('setSubaccountState', 'POST /subaccounts', { username, disabled: false })
  await row('listSubaccounts', 'GET /subaccounts', { limit: 100, offset: 0, username })
  await row('setSubaccountCredit', 'POST /subaccounts/setsubaccountcredit', {
    username,
    action: 'increase',
    amount: 500,
  })
  await row('setRecurringCredit', 'POST /setrecurringcreditddetails', {
    username,
    recurring_credit: 100,
    timeperiod: 'monhtly',
    start_date: '2026-04-01',
    end_date: '2026-12-31',
    status: 'active',
  })
  await row('getSubaccountCredit', 'GET /subaccounts/getcreditddetails', { username })
  await row('getCredit', 'GET /credit', { startdate: '2026-03-01', enddate: '2026-03-04', limit: 10, offset: 0 })
  await row('deleteSubaccount', 'DELETE /subaccounts/delete', { username })
}

async function recordKeys(row: Row): Promise<void> {
  const restrictions = { sender_domains: ['v2-calls.example'], recipients_per_hour: 500, until: null }
  const { id } = await row('createKey', 'POST /keys', {
    name: 'shop',
    scopes: ['send'],
    networks: ['192.0.2.0/24'],
    restrictions,
  })
  for (const wrong of [
    { templates: ['a'] },
    { recipient_domains: 'a b' },
    { calls_per_minute: 0 },
    { until: 'never' },
  ]) {
    await row('createKey', 'POST /keys', { name: 'shop', restrictions: wrong })
  }
  await row('listKeys', 'GET /keys', { after: 0, limit: 3 })
  await row('updateKey', 'PATCH /keys/:id', { name: 'till', networks: [], scopes: 'send,stats' }, { id })
  await row('rotateKey', 'POST /keys/rotate', { id, overlap_hours: 24 })
  await row('revokeKey', 'DELETE /keys/:id', {}, { id })
}

async function recordReports(row: Row): Promise<void> {
  const [startdate, enddate] = ['2026-03-04', '2026-03-04']
  const days = { startdate, enddate, limit: 10, offset: 0 }
  await row('listEvents', 'GET /logs', {
    ...days,
    events: 'sent,processed',
    sort: 'desc',
    email: 'lena@harbor.example',
  })
  await row('listEvents', 'POST /events/logs', { startdate, subject: 'Berth', fromaddress: 'desk@v2-calls.example' })
  await row('listEvents', 'GET /events', { startdate, xapiheader: 'a', messageid: 'b', scrollid: 'c' })
  const sent = await row('readEventFeed', 'GET /events/feed', { after: 0, limit: 2, types: 'sent', wait: 0 })
  const [{ messageId: messageid, trid }] = sent as unknown as [{ messageId: string; trid: number }]
  await row('explainDelivery', 'GET /delivery', { messageid })
  await row('explainDelivery', 'POST /delivery', { trid })
  await row('listMessages', 'GET /messages', { search: 'state:delivered before:2099-01-01', limit: 2, cursor: '' })
  // Ids have the time of this host, which is later than that of the database here.
  const attached = await row('listMessages', 'POST /messages', { has: 'attachment', door: 'v2', before: '2099-01-01' })
  const [{ messageId }] = attached as unknown as [{ messageId: string }]
  await row('downloadAttachment', 'GET /messages/:messageId/attachments/:index', {}, { messageId, index: 0 })
  await row('showMessage', 'GET /messages/:messageId', { from_recipient: 0 }, { messageId: messageid })
  await row('messageBody', 'GET /messages/:messageId/body', { recipient_no: 0 }, { messageId: messageid })
  await row('downloadMessage', 'GET /messages/:messageId/source', {}, { messageId: messageid })
  await row('tryNow', 'POST /messages/:messageId/try-now', {}, { messageId: messageid })
  await row('cancelMessage', 'POST /messages/:messageId/cancel', {}, { messageId: messageid })
  await row('resend', 'POST /messages/:messageId/resend', { recipients: [0] }, { messageId: messageid })
  await row('showKey', 'GET /key')
  await row('getStats', 'GET /stats', { ...days, metrics: 'all', aggregated_by: 'day' })
  await row('getStats', 'POST /stats', { startdate, enddate, by: 'domain' })
  await row('getStats', 'GET /stats', { startdate, by: 'domain', domain: 'v2-calls.example' })
  await row('getStats', 'GET /stats', { startdate, by: 'site', site: 'harbor.example', subaccount: 'dock2' })
  await row('listTags', 'GET /tags', { tag: 'a', limit: 10, offset: 0 })
  await row('getTagStats', 'GET /tags/stats', { ...days, tag: 'a', metrics: 'all', aggregated_by: 'week' })
  await row('getTagSums', 'GET /tags/stats/sums', { ...days, tag: 'a' })
}

async function recordExports(row: Row, recorder: Recorder, { receiverUrl, writeExports }: World): Promise<void> {
  const days = { startdate: '2026-03-01', enddate: '2026-03-04' }
  const wanted = { ...days, events: 'sent,open', format: 'csv', callbackUrl: receiverUrl }
  const { jobId } = await row('createExport', 'POST /stats/export', wanted)
  await row('createExport', 'POST /stats/export', { ...days, email: 'desk@v2-calls.example' })
  await row('showExport', 'GET /stats/export/:jobId', {}, { jobId })
  await writeExports()
  const { jobId: other } = await row('createExport', 'POST /stats/export', { ...days, callbackUrl: receiverUrl })
  await row('deleteExport', 'DELETE /stats/export/:jobId', {}, { jobId: other })
  const { url } = await row('showExport', 'GET /stats/export/:jobId', {}, { jobId })
  await row('listExports', 'GET /stats/exports', { limit: 2, before: jobId })
  await row('downloadExport', 'GET /stats/export/:jobId/file', {}, { jobId })
  await row('streamEvents', 'GET /stats/export', { ...days, events: 'sent' })
  const path = new URL(String(url)).pathname
  for (const method of ['GET', 'HEAD', 'POST']) await recorder.ask('the link of an export', { method, path })
  await recorder.ask('the link of no export', { method: 'GET', path: '/exports/nothing' })
}

async function recordWebhooks(row: Row, { receiverUrl: url, addRequest }: World): Promise<void> {
  const { webhookId } = await row('createWebhook', 'POST /webhooks', {
    url,
    events: 'sent,bounced,opened',
    enabled: 1,
    headers: { 'X-A': 'b' },
    format: 'v2',
    strings: false,
    abuse: 1,
    eventIds: true,
  })
  for (const wrong of ['ftp://a.example/', 'http://user@a.example/', 'http://127.0.0.1:1/']) {
    await row('createWebhook', 'POST /webhooks', { url: wrong, events: 'sent' })
  }
  const at = { webhookId }
  await row('listWebhooks', 'GET /webhooks')
  await row('showWebhook', 'GET /webhooks/:webhookId', {}, at)
  await row('updateWebhook', 'PATCH /webhooks/:webhookId', { events: 'sent', enabled: 0, url }, at)
  await row('testWebhook', 'POST /webhooks/:webhookId/test', {}, at)
  await row('rotateWebhookSecret', 'POST /webhooks/:webhookId/rotate', { overlapHours: 24 }, at)
  await row('listWebhookDeliveries', 'GET /webhooks/:webhookId/deliveries', { limit: 50 }, at)
  const one = { webhookId, requestId: await addRequest(Number(webhookId)) }
  await row('showWebhookDelivery', 'GET /webhooks/:webhookId/deliveries/:requestId', {}, one)
  await row('resendWebhookDelivery', 'POST /webhooks/:webhookId/deliveries/:requestId/resend', {}, one)
  await row('listenToWebhookEvents', 'GET /webhooks/listen', {
    after: 5,
    events: 'sent',
    format: 'v2',
    eventIds: 1,
    wait: 0,
  })
  await row('listWebhookFailures', 'GET /webhooks/:webhookId/failures', { limit: 50, offset: 0 }, at)
  const failureId = '5b0c2f5d-3c6e-4b0f-8f0e-7a1d2c3b4a59'
  await row('redeliverWebhookFailures', 'POST /webhooks/:webhookId/redeliver', { failureId }, at)
  await row('replayWebhook', 'POST /webhooks/:webhookId/replay', { from: 1 }, at)
  await row('removeWebhook', 'DELETE /webhooks/:webhookId', {}, at)
}

/** Every other path: which methods it takes is in `Allow`. */
const PATHS = `
  /domain/getDomains /getSuppression /suppression/remove /templates /getTemplates /deleteTemplate /getTemplateVersions
  /templates/1 /templates/1/versions /templates/1/versions/1 /getTemplateVersion /templates/1/activate /templates/1/render
  /template/1/versions/1/activate /templates/1/versions/1/activate /attachments /getAttachments /deleteAttachment
  /attachments/1 /setrecurringcreditdetails /subaccounts/setrecurringcreditddetails /subaccounts/getcreditdetails /credits
  /getCredit /subaccounts/getSubAccounts /getKeys /keys/update /keys/1/rotate /keys/revoke /gdpr/status /gdpr /events/logs
  /stats/export/stream /stats/export/1/delete /getWebhooks /getWebhook /deleteWebhook /account/show`

async function recordPaths(recorder: Recorder, { key }: Owner): Promise<void> {
  for (const path of PATHS.trim().split(/\s+/)) {
    await recorder.ask('another path', { method: 'PROPFIND', path: `/v2${path}`, headers: { api_key: key } })
    await recorder.ask('another path', { method: 'POST', path: `/v2.1${path}`, headers: { api_key: key }, body: {} })
  }
}
