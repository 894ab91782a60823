import type { Row } from './rows.ts'

/** POST /v3/mail/send, and what holds for every call. */
export const MAIL_SEND_ROWS: readonly Row[] = [
  {
    ...{ id: 'bearer', parameter: 'Authorization: Bearer', treatment: 'honour' },
    note: 'A key of this service, with or without `SG.` in front of other services’ keys. Missing or unknown: 401.',
  },
  { id: 'basic', parameter: 'HTTP Basic', treatment: 'reject', note: '401' },
  {
    ...{ id: 'on-behalf-of', parameter: 'on-behalf-of', treatment: 'honour' },
    note: 'The user name of a subaccount; any other: 403 `access forbidden`.',
  },
  {
    ...{ id: 'charset', parameter: 'Content-Type with charset', treatment: 'honour' },
    note: 'Another type than application/json, or none, with a body: 415.',
  },
  {
    ...{ id: 'empty-body', parameter: 'empty body with application/json', treatment: 'honour' },
    note: 'On every method.',
  },
  {
    ...{ id: 'gzip', parameter: 'Content-Encoding: gzip', treatment: 'honour' },
    note: 'At most a message of full size when unzipped: 413. Another encoding: 415.',
  },
  { id: 'unknown-path', parameter: 'anything else under /v3', treatment: 'reject', note: '404 in JSON, never HTML' },
]
