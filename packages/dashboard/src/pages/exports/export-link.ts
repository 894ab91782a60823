import { type Html, html } from '@postrider/ui'
import type { AccountCall } from '../../frame/call.ts'
import { exportsWords } from './exports-words.ts'

/** The values that the form for an export begins with. */
export interface ExportFilter {
  /** `yyyy-mm-dd`. */
  readonly from?: string | undefined
  readonly to?: string | undefined
  readonly events?: readonly string[] | undefined
}

/** A link of another page to the form for an export, with its filters filled in; nothing for roles that may not export. */
export function exportLink(
  { icon, language, may, path }: AccountCall,
  { from, to, events = [] }: ExportFilter,
): Html | false {
  const fields = new URLSearchParams(events.map((one): [string, string] => ['events', one]))
  if (from !== undefined) fields.set('from', from)
  if (to !== undefined) fields.set('to', to)
  const query = fields.size === 0 ? '' : `?${fields.toString()}`
  return (
    may('export') &&
    html`<a class="btn" href="${path(`exports/new${query}`)}">${icon('download')}${exportsWords(language).export}</a>`
  )
}
