import type { Row } from './rows.ts'

/** POST /v3/mail/send. */
export const MAIL_SEND_ROWS: readonly Row[] = [
  {
    ...{ id: 'personalizations', parameter: 'personalizations, to, cc, bcc', treatment: 'honour' },
    note: '1 to 1000 elements and recipients; the same address in two elements is two mails; bcc is on the envelope only.',
  },
  {
    ...{ id: 'names', parameter: 'recipient names', treatment: 'honour' },
    note: 'With `,` and `;` they are quoted. At most 4096 characters; addresses and names of one element times its recipients: 30 MB.',
  },
  {
    ...{ id: 'names-quoted', parameter: 'names that come in quotation marks', treatment: 'honour' },
    note: 'One enclosing pair is taken off, in every name: older clients add it.',
  },
  {
    ...{ id: 'personalization-from', parameter: 'personalizations[].from', treatment: 'honour' },
    note: 'On the domain of the root’s from.',
  },
  {
    ...{ id: 'personalization-subject', parameter: 'personalizations[].subject', treatment: 'honour' },
    note: 'In place of the root’s.',
  },
  {
    ...{ id: 'personalization-send_at', parameter: 'personalizations[].send_at', treatment: 'honour' },
    note: 'In place of the root’s.',
  },
  {
    id: 'substitutions',
    parameter: 'substitutions',
    treatment: 'honour',
    note: 'With or without template.',
  },
  { id: 'sections', parameter: 'sections', treatment: 'honour' },
  { id: 'dynamic_template_data', parameter: 'dynamic_template_data', treatment: 'honour' },
  { id: 'from-reply_to-subject', parameter: 'from, reply_to, subject', treatment: 'honour' },
  {
    id: 'reply_to_list',
    parameter: 'reply_to_list',
    treatment: 'honour',
    note: 'Not together with reply_to.',
  },
  { id: 'content', parameter: 'content: text/plain, text/html, text/x-amp-html', treatment: 'honour' },
  {
    ...{ id: 'content-others', parameter: 'content: text/calendar and others', treatment: 'honour' },
    note: 'As further alternatives, in their order; a calendar’s METHOD is in its type, unless `type` has one. `multipart/*`, `message/*` and what is no type: 400.',
  },
  {
    ...{ id: 'attachments', parameter: 'attachments: content, filename', treatment: 'honour' },
    note: '20,480,000 octets a file, 30 MB in all.',
  },
  {
    ...{ id: 'attachments-inline', parameter: 'attachments: type, inline, content_id', treatment: 'honour' },
    note: 'Without `type`, or with what is none, the type is the name’s. What no `cid:` of the HTML names stays among the attachments.',
  },
  {
    ...{ id: 'type-parameters', parameter: 'content and attachments: parameters of type', treatment: 'honour' },
    note: '`text/calendar; method=REQUEST` arrives so. At most 500 characters. `charset`: 400, every text is UTF-8; those of text, HTML and AMP have no effect.',
  },
  { id: 'base64', parameter: 'base64 with line breaks', treatment: 'reject', note: 'Padding must be there too.' },
  { id: 'disposition', parameter: 'attachment disposition default', treatment: 'honour', note: '`attachment`' },
  {
    ...{
      id: 'unknown-keys',
      parameter: 'unknown keys (root, personalization, attachment, settings)',
      treatment: 'ignore',
    },
  },
  { id: 'template_id', parameter: 'template_id of own templates', treatment: 'honour' },
  {
    ...{
      id: 'template_id-unknown',
      parameter: 'template_id well-formed but unknown',
      treatment: 'honour',
    },
    note: '202, then a `dropped` event.',
  },
  {
    ...{ id: 'headers', parameter: 'headers (root and personalization)', treatment: 'honour' },
    note: 'At most 50. Reserved names and line ends: 400. `Date`, `Sender` and `MIME-Version` too: the service writes them. `Message-ID` is kept.',
  },
  { id: 'categories', parameter: 'categories', treatment: 'honour', note: 'They are tags of v2.' },
  {
    ...{ id: 'custom_args', parameter: 'custom_args', treatment: 'honour' },
    note: 'A value that is no text: 400 `Bad Request`.',
  },
  { id: 'unique_args', parameter: 'unique_args (root)', treatment: 'ignore' },
  {
    ...{ id: 'send_at', parameter: 'send_at', treatment: 'honour' },
    note: 'At most 72 hours ahead; the past is now.',
  },
  { id: 'batch_id', parameter: 'batch_id', treatment: 'honour', note: 'Unknown: 400.' },
  {
    ...{ id: 'asm.group_id', parameter: 'asm.group_id', treatment: 'honour' },
    note: 'List-Unsubscribe with one-click, and a sentence with the link in every part without an unsubscribe tag, whatever subscription_tracking says.',
  },
  {
    ...{ id: 'asm.group_id-unknown', parameter: 'asm.group_id of no group', treatment: 'reject' },
  },
  {
    ...{ id: 'asm.groups_to_display', parameter: 'asm.groups_to_display', treatment: 'honour' },
    note: 'Kept with the message; `[]` is all groups.',
  },
  {
    id: 'ip_pool_name',
    parameter: 'ip_pool_name',
    treatment: 'ignore',
    note: 'There are no pools; it must be a string.',
  },
  {
    ...{ id: 'sandbox_mode', parameter: 'mail_settings.sandbox_mode', treatment: 'honour' },
    note: '200: judged, and nothing stored, charged or sent.',
  },
  {
    id: 'bypass_list_management',
    parameter: 'mail_settings.bypass_list_management',
    treatment: 'honour',
  },
  {
    ...{
      id: 'bypass-others',
      parameter: 'bypass_spam/bounce/unsubscribe_management',
      treatment: 'honour',
    },
  },
  {
    ...{ id: 'footer', parameter: 'mail_settings.footer', treatment: 'honour' },
    note: 'In place of the account’s.',
  },
  { id: 'mail_settings.bcc', parameter: 'mail_settings.bcc', treatment: 'ignore', note: 'Retired: whatever it holds.' },
  { id: 'spam_check', parameter: 'mail_settings.spam_check', treatment: 'ignore', note: 'Retired: whatever it holds.' },
  {
    ...{ id: 'tracking', parameter: 'click_tracking, open_tracking', treatment: 'honour' },
    note: 'Over the account’s default. Links of the text part only with `enable_text`.',
  },
  {
    ...{ id: 'open-tag', parameter: 'open_tracking.substitution_tag', treatment: 'honour' },
    note: 'The first becomes the pixel, others are taken out.',
  },
  {
    ...{ id: 'subscription_tracking', parameter: 'subscription_tracking', treatment: 'honour' },
    note: 'A part without the tag or the mark has the link at its end. With asm the link leaves the group.',
  },
  { id: 'ganalytics', parameter: 'ganalytics', treatment: 'honour', note: 'utm_* on links of HTML.' },
  { id: 'x-smtpapi-header', parameter: 'X-SMTPAPI in headers', treatment: 'ignore', note: 'It is taken out.' },
  {
    id: 'idempotency-key',
    parameter: 'Idempotency-Key (ours)',
    treatment: 'honour',
    note: 'One space with v2 and SMTP.',
  },
]
