import type { Row } from './rows.ts'

/** POST /api/mail.send.json. */
export const FORM_ROWS: readonly Row[] = [
  {
    id: 'form.recipients',
    parameter: 'mail.send.json: to, toname, cc, bcc, from, fromname, replyto',
    treatment: 'honour',
    note: 'Lists as repeated names or with brackets. A repeated address gets one copy. At most 1,000 recipients.',
  },
  {
    id: 'form.texts',
    parameter: 'mail.send.json: subject, text, html, date',
    treatment: 'honour',
    note: 'A `date` that cannot be read is left out, and `Ignored-Parameters` names it as `headers.Date`.',
  },
  { id: 'form.headers', parameter: 'mail.send.json: headers', treatment: 'honour', note: 'As in mail/send.' },
  {
    id: 'form.files',
    parameter: 'mail.send.json: files[name], content[name]',
    treatment: 'honour',
    note: 'The type of a file is derived from its name.',
  },
  {
    id: 'form.smtpapi',
    parameter: 'mail.send.json: x-smtpapi',
    treatment: 'honour',
    note: 'As over SMTP, except that mistakes in it are an answer with 400. With `to` or `sub`, cc and bcc get one copy.',
  },
  {
    id: 'form.key',
    parameter: 'mail.send.json: api_user, api_key',
    treatment: 'honour',
    note: '`api_key` is an API key; `api_user` has no effect. `Authorization: Bearer` takes precedence.',
  },
  {
    id: 'form.errors',
    parameter: 'mail.send.json: errors',
    treatment: 'honour',
    note: '`{"message":"error","errors":[…]}`, with the status that mail/send has.',
  },
]
