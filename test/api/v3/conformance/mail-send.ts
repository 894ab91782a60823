import type { Row } from './rows.ts'

/** POST /v3/mail/send. */
export const MAIL_SEND_ROWS: readonly Row[] = [
  {
    id: 'personalizations',
    parameter: 'personalizations, to, cc, bcc',
    treatment: 'honour',
    note: '1 to 1000 elements and recipients. An address in two elements gets two messages. bcc recipients are in the envelope only.',
  },
  {
    id: 'names',
    parameter: 'recipient names',
    treatment: 'honour',
    note: 'Quoted if they contain `,` or `;`. At most 4096 characters. The addresses and names of one element: at most 512 kB.',
  },
  {
    id: 'names-quoted',
    parameter: 'names in quotation marks',
    treatment: 'honour',
    note: 'One enclosing pair is removed from every name, because older clients add it.',
  },
  {
    id: 'personalization-from',
    parameter: 'personalizations[].from',
    treatment: 'honour',
    note: 'Must have the domain of the root `from`.',
  },
  {
    id: 'personalization-subject',
    parameter: 'personalizations[].subject',
    treatment: 'honour',
    note: 'Overrides that of the root.',
  },
  {
    id: 'personalization-send_at',
    parameter: 'personalizations[].send_at',
    treatment: 'honour',
    note: 'Overrides that of the root.',
  },
  {
    id: 'substitutions',
    parameter: 'substitutions',
    treatment: 'honour',
    note: 'With or without a template.',
  },
  { id: 'sections', parameter: 'sections', treatment: 'honour' },
  { id: 'dynamic_template_data', parameter: 'dynamic_template_data', treatment: 'honour' },
  { id: 'from-reply_to-subject', parameter: 'from, reply_to, subject', treatment: 'honour' },
  {
    id: 'reply_to_list',
    parameter: 'reply_to_list',
    treatment: 'honour',
    note: 'Cannot be combined with reply_to. An empty object or list counts as absent.',
  },
  { id: 'content', parameter: 'content: text/plain, text/html, text/x-amp-html', treatment: 'honour' },
  {
    id: 'content-others',
    parameter: 'content: text/calendar and others',
    treatment: 'honour',
    note:
      'Added as further alternatives, in the order of the call. The METHOD of a calendar is added to its type unless `type` ' +
      'has one. `multipart/*`, `message/*` and invalid types: 400.',
  },
  {
    id: 'attachments',
    parameter: 'attachments: content, filename',
    treatment: 'honour',
    note: 'At most 20,480,000 bytes per file, 30 MB in total.',
  },
  {
    id: 'attachments-inline',
    parameter: 'attachments: type, inline, content_id',
    treatment: 'honour',
    note: 'If `type` is absent or invalid, it is derived from the file name. Inline files without a `cid:` reference in the HTML are sent as attachments.',
  },
  {
    id: 'type-parameters',
    parameter: 'content and attachments: parameters of type',
    treatment: 'honour',
    note:
      'Kept, as in `text/calendar; method=REQUEST`. At most 500 characters. `charset`: 400, because all text is UTF-8. ' +
      'Parameters of text, HTML and AMP have no effect.',
  },
  { id: 'base64', parameter: 'base64 with line breaks', treatment: 'reject', note: 'Padding is required, too.' },
  { id: 'disposition', parameter: 'attachment disposition default', treatment: 'honour', note: '`attachment`' },
  {
    id: 'unknown-keys',
    parameter: 'unknown keys (root, personalization, attachment, settings)',
    treatment: 'ignore',
  },
  { id: 'template_id', parameter: 'template_id of a template of the account', treatment: 'honour' },
  {
    id: 'template_id-unknown',
    parameter: 'template_id well-formed but unknown',
    treatment: 'honour',
    note: '202, then a `dropped` event.',
  },
  {
    id: 'headers',
    parameter: 'headers (root and personalization)',
    treatment: 'honour',
    note:
      'At most 50. Reserved names and line breaks: 400; folds are removed. Other fields that the service writes, such as `MIME-Version` and ' +
      '`Return-Path`, and those that cannot be written are left out, and `Ignored-Parameters` names them. `Date`, `Message-ID`, ' +
      '`Content-Language` and a `Sender` of the account are kept.',
  },
  { id: 'categories', parameter: 'categories', treatment: 'honour', note: 'They are the tags of v2.' },
  {
    id: 'custom_args',
    parameter: 'custom_args',
    treatment: 'honour',
    note: 'A value that is not a string: 400 `Bad Request`.',
  },
  { id: 'unique_args', parameter: 'unique_args (root)', treatment: 'ignore' },
  {
    id: 'send_at',
    parameter: 'send_at',
    treatment: 'honour',
    note: 'At most 72 hours ahead. With a past time the message is sent immediately.',
  },
  { id: 'batch_id', parameter: 'batch_id', treatment: 'honour', note: 'An unknown batch: 400.' },
  {
    id: 'asm.group_id',
    parameter: 'asm.group_id',
    treatment: 'honour',
    note: 'Adds List-Unsubscribe with one-click, and a sentence with the link to every part without an unsubscribe tag, independent of subscription_tracking.',
  },
  {
    id: 'asm.group_id-unknown',
    parameter: 'asm.group_id of an unknown group',
    treatment: 'reject',
  },
  {
    id: 'asm.groups_to_display',
    parameter: 'asm.groups_to_display',
    treatment: 'honour',
    note: 'The groups of the preferences page; `[]` means all groups.',
  },
  {
    id: 'ip_pool_name',
    parameter: 'ip_pool_name',
    treatment: 'honour',
    note: 'Must be the name of a pool that is not reserved. As long as the operator has configured no pools, any name is accepted.',
  },
  {
    id: 'sandbox_mode',
    parameter: 'mail_settings.sandbox_mode',
    treatment: 'honour',
    note: 'The message is validated, and the call returns 200. Nothing is stored, charged or sent.',
  },
  {
    id: 'bypass_list_management',
    parameter: 'mail_settings.bypass_list_management',
    treatment: 'honour',
  },
  {
    id: 'bypass-others',
    parameter: 'bypass_spam/bounce/unsubscribe_management',
    treatment: 'honour',
  },
  {
    id: 'footer',
    parameter: 'mail_settings.footer',
    treatment: 'honour',
    note: 'Replaces the footer of the account.',
  },
  {
    id: 'mail_settings.bcc',
    parameter: 'mail_settings.bcc',
    treatment: 'ignore',
    note: 'Retired; any value is accepted.',
  },
  {
    id: 'spam_check',
    parameter: 'mail_settings.spam_check',
    treatment: 'ignore',
    note: 'Retired; any value is accepted.',
  },
  {
    id: 'tracking',
    parameter: 'click_tracking, open_tracking',
    treatment: 'honour',
    note: 'Override the setting of the account. Links of the text part are tracked only with `enable_text`.',
  },
  {
    id: 'open-tag',
    parameter: 'open_tracking.substitution_tag',
    treatment: 'honour',
    note: 'The first tag is replaced by the pixel; others are removed.',
  },
  {
    id: 'subscription_tracking',
    parameter: 'subscription_tracking',
    treatment: 'honour',
    note: 'A part without the tag or the mark gets the link at its end. With asm, the link unsubscribes from the group.',
  },
  { id: 'ganalytics', parameter: 'ganalytics', treatment: 'honour', note: 'Adds utm_* parameters to links of HTML.' },
  { id: 'x-smtpapi-header', parameter: 'X-SMTPAPI in headers', treatment: 'ignore', note: 'The header is removed.' },
  {
    id: 'idempotency-key',
    parameter: 'Idempotency-Key (extension)',
    treatment: 'honour',
    note: 'Keys are shared with v2 and SMTP.',
  },
]
