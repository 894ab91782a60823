import type { Row } from './rows.ts'

/** What holds for every call. */
export const DOOR_ROWS: readonly Row[] = [
  {
    id: 'bearer',
    parameter: 'Authorization: Bearer',
    treatment: 'honour',
    note: 'A key of this service. Missing or unknown: 401; an expired account: 401.',
  },
  { id: 'key-prefix', parameter: 'key without `SG.` prefix', treatment: 'honour' },
  { id: 'basic', parameter: 'HTTP Basic', treatment: 'reject', note: '401' },
  {
    id: 'on-behalf-of',
    parameter: 'on-behalf-of',
    treatment: 'honour',
    note: 'The user name of a subaccount; any other: 403 `access forbidden`. `account-id` is not known.',
  },
  {
    id: 'charset',
    parameter: 'Content-Type with charset',
    treatment: 'honour',
    note: 'Another type than application/json, or none, with a body: 415.',
  },
  { id: 'empty-body', parameter: 'empty body with application/json', treatment: 'honour', note: 'On every method.' },
  {
    id: 'gzip',
    parameter: 'Content-Encoding: gzip',
    treatment: 'honour',
    note: 'Unzipped at most a message of full size: else 413. Another encoding: 415.',
  },
  { id: 'query-lists', parameter: 'lists in queries: `a=1&a=2` and `a[]=1&a[]=2`', treatment: 'honour' },
  { id: 'rate-limits', parameter: 'X-RateLimit-* on all but mail/send, and on 429', treatment: 'honour' },
  {
    id: 'link',
    parameter: 'Link: first, prev, next, last',
    treatment: 'honour',
    note: 'On lists read by `limit` and `offset`, counted up to 100,000; on statistics where `limit` is given. Not with a query of hundreds of characters.',
  },
  {
    id: 'cors',
    parameter: 'OPTIONS and CORS',
    treatment: 'honour',
    note: 'Scripts of other origins can’t call mail/send.',
  },
  { id: 'unknown-path', parameter: 'anything else under /v3', treatment: 'reject', note: '404 in JSON, never HTML' },
]
