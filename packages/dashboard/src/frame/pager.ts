import { type Html, html, type Value } from '@postrider/ui'
import { type AccountCall, type Call, field } from './call.ts'
import { frameWords } from './words/frame-words.ts'

/** Rows that lists can be paged to: the time of a page grows with those before it. */
const MAX_ROWS = 10_000

export interface Pager {
  /** Path of the list, below the account's. */
  readonly at: string
  readonly offset: number
  readonly limit: number
  readonly total: number
  /** Further fields of the query, such as the search. */
  readonly query?: Readonly<Record<string, string>>
}

/** The offset that a query asks for, such that its page ends within the rows that lists are paged to. */
export function offsetOf(query: Call['query'], limit: number): number {
  return Math.min(MAX_ROWS - limit, Math.max(0, Math.trunc(Number(field(query, 'offset'))) || 0))
}

/** The foot of a list: how much of it is shown, and the way to the next and the previous page. */
export function pager(
  { format, icon, language, path }: Pick<AccountCall, 'format' | 'icon' | 'language' | 'path'>,
  { at, offset, limit, total, query = {} }: Pager,
): Value {
  if (total <= limit && offset === 0) return null
  const words = frameWords(language)
  const link = (to: number, label: Html): Html => {
    const fields = new URLSearchParams({ ...query, ...(to > 0 ? { offset: String(to) } : {}) })
    return html`<a class="btn s" href="${path(at)}?${fields.toString()}">${label}</a>`
  }
  const isEnd = offset + limit >= MAX_ROWS && total > MAX_ROWS
  const next = Math.min(offset + limit, MAX_ROWS - limit)
  return html`<footer class="more"><span>${format.number(offset + 1)}–${format.number(Math.min(total, offset + limit))} / ${format.number(total)}${
    isEnd && html` · ${words.listEnds(format.number(MAX_ROWS))}`
  }</span><span class="acts">${
    offset > 0 && link(Math.max(0, offset - limit), html`${icon('left')}${words.previous}`)
  }${!isEnd && offset + limit < total && link(next, html`${words.next}${icon('right')}`)}</span></footer>`
}
