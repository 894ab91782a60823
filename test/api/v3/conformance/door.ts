import type { Row } from './rows.ts'

/** Rules for every call. */
export const DOOR_ROWS: readonly Row[] = [
  {
    id: 'bearer',
    parameter: 'Authorization: Bearer',
    treatment: 'honour',
    note: 'A key of this service. A missing or unknown key, or an expired account: 401.',
  },
  { id: 'key-prefix', parameter: 'key without `SG.` prefix', treatment: 'honour' },
  { id: 'basic', parameter: 'HTTP Basic', treatment: 'reject', note: '401' },
  {
    id: 'on-behalf-of',
    parameter: 'on-behalf-of',
    treatment: 'honour',
    note: 'The user name of a subaccount; any other value: 403 `access forbidden`. `account-id` is not supported.',
  },
  {
    id: 'charset',
    parameter: 'Content-Type with charset',
    treatment: 'honour',
    note: 'A body with another type than application/json, or without a type: 415.',
  },
  { id: 'empty-body', parameter: 'empty body with application/json', treatment: 'honour', note: 'For every method.' },
  {
    id: 'gzip',
    parameter: 'Content-Encoding: gzip',
    treatment: 'honour',
    note: 'More than the maximum message size after decompression: 413. Another encoding: 415.',
  },
  { id: 'query-lists', parameter: 'lists in queries: `a=1&a=2` and `a[]=1&a[]=2`', treatment: 'honour' },
  { id: 'rate-limits', parameter: 'X-RateLimit-* on all but mail/send, and on 429', treatment: 'honour' },
  {
    id: 'link',
    parameter: 'Link: first, prev, next, last',
    treatment: 'honour',
    note:
      'On lists with `limit` and `offset`, whose entries are counted up to 100,000; on statistics if `limit` is given. Omitted ' +
      'if the query has hundreds of characters.',
  },
  {
    id: 'cors',
    parameter: 'OPTIONS and CORS',
    treatment: 'honour',
    note: 'Scripts of other origins cannot call mail/send.',
  },
  { id: 'unknown-path', parameter: 'any other path under /v3', treatment: 'reject', note: '404 in JSON, never HTML' },
]
