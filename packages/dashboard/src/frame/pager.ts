import { type Html, html, type Value } from '@postrider/ui'
import type { AccountCall } from './call.ts'
import { frameWords } from './frame-words.ts'

export interface Pager {
  /** Path of the list, below the account's. */
  readonly at: string
  readonly offset: number
  readonly limit: number
  readonly total: number
  /** Further fields of the query, such as the search. */
  readonly query?: Readonly<Record<string, string>>
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
  return html`<footer class="more"><span>${format.number(offset + 1)}–${format.number(Math.min(total, offset + limit))} / ${format.number(total)}</span><span class="acts">${
    offset > 0 && link(Math.max(0, offset - limit), html`${icon('left')}${words.previous}`)
  }${offset + limit < total && link(offset + limit, html`${words.next}${icon('right')}`)}</span></footer>`
}
