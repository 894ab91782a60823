import { type Html, html, type Value } from '@postrider/ui'
import { attempt } from '../../frame/attempt.ts'
import type { AccountCall } from '../../frame/call.ts'
import type { ShownSpan } from './span.ts'
import { statisticsWords } from './statistics-words.ts'

/** The reasons of bounces by kind, from the replies of destinations; a sentence instead if there are too many to count for a page. */
export async function bounceReasons(call: AccountCall, { first, last }: ShownSpan): Promise<Value> {
  const { core, account: own, format, language } = call
  const words = statisticsWords(language)
  const read = await attempt(() => core.stats.bounces({ accountId: own.id, first, last, classification: undefined }))
  const box = (inner: Html) =>
    html`<section class="box"><header><h2>${words.reasons}</h2><p>${words.reasonsText}</p></header>${inner}</section>`
  if (!read.ok) return box(html`<p class="pad dim">${words.tooManyBounces}</p>`)
  const counts = new Map<string, number>()
  for (const day of read.value)
    for (const { name, count } of day.counts) counts.set(name, (counts.get(name) ?? 0) + count)
  const rows = [...counts].sort(([, a], [, b]) => b - a)
  const all = rows.reduce((sum, [, count]) => sum + count, 0)
  if (all === 0) return null
  const texts: Readonly<Record<string, string>> = words.reasonTexts
  return box(html`<div class="scroll" tabindex="0" role="region" aria-label="${words.reasons}"><table><thead><tr><th>${words.reason}</th>
    <th class="hb wide-only"><span class="sr">${words.share}</span></th><th class="n">${words.bounces}</th><th class="n">${words.share}</th></tr></thead>
    <tbody>${rows.map(
      ([name, count]) =>
        html`<tr><th scope="row" class="any">${texts[name] ?? name}</th><td class="hb wide-only"><svg class="meter" viewBox="0 0 100 8"
        preserveAspectRatio="none" aria-hidden="true"><rect class="fline" width="100" height="8"/><rect class="f4" width="${((100 * count) / all).toFixed(1)}"
        height="8"/></svg></td><td class="n">${format.number(count)}</td><td class="n">${format.share(count, all)}</td></tr>`,
    )}</tbody></table></div>`)
}
