import { COUNTED } from '@postrider/core'
import type { Call } from './operation.ts'

/** A page of a list that is read by offset. */
export interface ListPage {
  /** At least 1. */
  readonly limit: number
  readonly offset: number
  /** Rows of the whole list, counted up to COUNTED. */
  readonly total: number
}

/** Characters of one link: clients bound the header of an answer, and a query may have thousands. */
const MAX_LENGTH = 1000

/** Says where the first, previous, next and last page are (RFC 8288, contract 1.7), with everything else that was asked. */
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
    // Of a list that goes on beyond what is counted nobody knows the end; without `next` a client would take this page for it.
    ...(offset + limit < total || total >= COUNTED ? [link('next', offset + limit)] : []),
    ...(total < COUNTED ? [link('last', last)] : []),
  ]
  if (links.every(({ length }) => length <= MAX_LENGTH)) reply.header('link', links.join(', '))
}

/** The rows of a list as its page shows them: a page that is not full is the last one, and nothing is to be counted. */
export async function totalOf(
  { limit, offset }: Omit<ListPage, 'total'>,
  shown: number,
  count: () => Promise<number>,
): Promise<number> {
  return shown < limit && (shown > 0 || offset === 0) ? offset + shown : count()
}
