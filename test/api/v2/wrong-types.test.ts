import t from 'tap'
import { v2Body } from '../../helpers/send.ts'
import { makeService } from '../../helpers/service.ts'
import { call, errorText } from '../call.ts'

const service = await makeService(t)
const base = await service.openApi()
const sender = await service.makeSender()
const post = (path: string, body: Record<string, unknown>) =>
  call(base, { path: `/v2${path}`, headers: { api_key: sender.apiKey }, body })

/** Parameters with a code of their own, wherever they stand. */
const OWN_CODE: readonly (readonly [path: string, body: Record<string, unknown>, code: number, text: string])[] = [
  ['/template', { templateName: 42, content: 'C' }, 151, 'Invalid template name'],
  ['/template/1', { templateName: ['a'] }, 151, 'Invalid template name'],
  ['/getTemplate', { templateId: {} }, 150, 'Invalid template id'],
  ['/getTemplates', { template_id: [1] }, 150, 'Invalid template id'],
  ['/getTemplateVersion', { templateId: 1, version: {} }, 155, 'Invalid template version'],
  ['/deleteAttachment', { attachmentId: [] }, 119, 'Invalid attachmentId'],
  ['/domain', { domain: 42 }, 130, 'Invalid domain name'],
  ['/domain/verify', { domain: {} }, 130, 'Invalid domain name'],
  ['/suppression', { email: 42 }, 140, 'Invalid email address'],
  ['/suppression', { email: ['a@x.test', 7] }, 140, 'Invalid email address'],
  ['/suppression', { domain: 42 }, 141, 'Invalid email domain'],
  ['/suppression/check', { email: {} }, 140, 'Invalid email address'],
  ['/gdpr/forget', { email: 42 }, 140, 'Invalid email address'],
  ['/gdpr/status', { requestId: 42 }, 190, 'Invalid requestId'],
  ['/credit', { startdate: {}, enddate: '2026-01-05' }, 160, 'Start date and end date must be in yyyy-mm-dd format'],
  ['/stats', { startdate: [] }, 160, 'Start date and end date must be in yyyy-mm-dd format'],
  ['/logs', { startdate: {} }, 160, 'Start date and end date must be in yyyy-mm-dd format'],
  ['/stats/export', { startdate: 42 }, 1104, 'Start date and end date must be in yyyy-mm-dd format'],
  ['/subaccounts/createSubaccount', { username: 42, email: 'a@x.test', setpassword: 0 }, 170, 'Invalid username'],
  ['/subaccounts/createSubaccount', { username: 'dock', email: 42, setpassword: 0 }, 173, 'Invalid email'],
  ['/subaccounts/delete', { username: {} }, 172, 'Subaccount does not exist'],
  [
    '/subaccounts/setsubaccountcredit',
    { username: 'dock', action: 'increase', amount: {} },
    175,
    'Invalid credit value: must be a number or a string',
  ],
  ['/keys/revoke', { id: 'x' }, 180, 'Invalid key id'],
  ['/getWebhook', { webhookId: {} }, 202, 'Invalid webhook id'],
  ['/sendEmail', v2Body(sender, { templateId: {} }), 118, 'Invalid templateId'],
  ['/sendEmail', v2Body(sender, { attachmentId: [{}] }), 119, 'Invalid attachmentId'],
  [
    '/sendEmail',
    v2Body(sender, { from: { fromEmail: 42 } }),
    112,
    'Invalid fromEmail, authentication failed: must be a string',
  ],
]
for (const [path, body, code, text] of OWN_CODE) {
  t.test(
    `another type gets the parameter's own code, ${code}, from ${path}: ${JSON.stringify(body).slice(0, 60)}`,
    async (t) => {
      const answer = await post(path, body)
      t.match(answer.json, { error_info: { error_code: code, error_message: text } }, answer.text)
    },
  )
}

/** Those without one are named, with all types they may have. */
const NAMED: readonly (readonly [path: string, body: Record<string, unknown>, text: string])[] = [
  ['/template', { templateName: 'a', content: 42 }, '[content] is invalid: must be a string'],
  ['/template/1/render', { attributes: 7 }, '[attributes] is invalid: must be an object or an array'],
  ['/getSuppression', { limit: {} }, '[limit] is invalid: must be an integer or a string'],
  ['/keys', { name: {} }, '[name] is invalid: must be a string'],
  ['/sendEmail', v2Body(sender, { subject: 7 }), '[subject] is invalid: must be a string'],
  ['/sendEmail', v2Body(sender, { tags: {} }), '[tags] is invalid: must be a string or an array'],
  ['/sendEmail', v2Body(sender, { schedule: {} }), '[schedule] is invalid: must be an integer or a string'],
  [
    '/sendEmail',
    v2Body(sender, { settings: { group: {} } }),
    '[settings.group] is invalid: must be an integer or a string',
  ],
  [
    '/sendEmail',
    v2Body(sender, { settings: { footer: {} } }),
    '[settings.footer] is invalid: must be true or false, or 1 or 0',
  ],
  [
    '/sendEmail',
    v2Body(sender, { personalizations: [{ recipient: 'a@x.test', attributes: { berth: { number: 4 } } }] }),
    '[personalizations[0].attributes.berth] is invalid: must be a string, a number, or true or false',
  ],
  [
    '/sendEmail',
    v2Body(sender, { personalizations: [{ recipient: 'a@x.test', 'x-apiheader': {} }] }),
    '[personalizations[0].x-apiheader] is invalid: must be an integer or a string',
  ],
]
for (const [path, body, text] of NAMED) {
  t.test(`another type is named with all it may be: ${text}`, async (t) => {
    t.equal(errorText(await post(path, body)), `Parameter ${text}`)
  })
}
