import { COUNTED } from '@postrider/core'
import type { Call } from './operation.ts'

/** A page of a list that is read by offset. */
export interface ListPage {
  /** At least 1. */
  readonly limit: number
  readonly offset: number
  /** Number of rows in the list, counted up to COUNTED. */
  readonly total: number
}

/** Maximum length of one link: clients limit response headers, and a query may be thousands of characters long. */
const MAX_LENGTH = 1000

/** Sends links to the first, previous, next and last page (RFC 8288, contract 1.7), with all other query parameters. */
export function sendPageLinks({ request, reply, publicUrl }: Call, { limit, offset, total }: ListPage): void {
  const { pathname, searchParams } = new URL(request.url, 'http://path.invalid')
  const link = (rel: string, at: number): string => {
    searchParams.set('limit', String(limit))
    searchParams.set('offset', String(at))
    return `<${publicUrl}${pathname}?${searchParams}>; rel="${rel}"; title="${Math.floor(at / limit) + 1}"`
  }
  const last = Math.max(0, Math.ceil(total / limit) - 1) * limit
  const links = [
    link('first', 0),
    ...(offset > 0 ? [link('prev', Math.max(0, offset - limit))] : []),
    // The end of a list longer than COUNTED is unknown; without `next`, a client would take this page for the last one.
    ...(offset + limit < total || total >= COUNTED ? [link('next', offset + limit)] : []),
    ...(total < COUNTED ? [link('last', last)] : []),
  ]
  if (links.every(({ length }) => length <= MAX_LENGTH)) reply.header('link', links.join(', '))
}

/** Returns the total number of rows. A page that is not full is the last one, so nothing has to be counted. */
export async function totalOf(
  { limit, offset }: Omit<ListPage, 'total'>,
  shown: number,
  count: () => Promise<number>,
): Promise<number> {
  return shown < limit && (shown > 0 || offset === 0) ? offset + shown : count()
}
