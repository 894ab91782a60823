import { MAILBOX_PROVIDERS, type NamedCounts, OTHER_PROVIDERS } from '@postrider/core'
import { foreign, type Html, html, type Value } from '@postrider/ui'
import type { AccountCall } from '../../frame/call.ts'
import { offsetOf, pager } from '../../frame/pager.ts'
import { problemNote } from '../../frame/parts.ts'
import { percentileBar, percentileScale, type Scale } from '../../frame/percentiles.ts'
import { daysBefore, type ShownSpan } from './span.ts'
import { NAMES, readSums, type SortName, type SubjectName, sortOf, subjectOf } from './statistics-read.ts'
import { statisticsWords } from './statistics-words.ts'

const PAGE = 50

/** The table by provider, recipient domain, tag or sending domain. */
export async function namesTable(call: AccountCall, span: ShownSpan): Promise<Html> {
  const { language, path, query } = call
  const words = statisticsWords(language)
  const by = subjectOf(call)
  const offset = offsetOf(query, PAGE)
  const found = await readSums(call, span, { limit: PAGE, offset })
  const { first, last, period } = span
  const seg = html`<nav class="seg" aria-label="${words.groupBy}">${NAMES.map(
    (name) =>
      html`<a href="${path('statistics')}?from=${first}&amp;to=${last}&amp;period=${period}&amp;by=${name}"${
        name === by && html` aria-current="true"`
      }>${words.groups[name]}</a>`,
  )}</nav>`
  if (!found.ok) return html`<section class="box"><header>${seg}</header></section>${problemNote(call, found.problem)}`
  const { stats, total, hasTimes } = found.value
  const fields = { from: first, to: last, period, by, sort: sortOf(call) }
  return html`<section class="box"><header>${seg}<p class="push wide-only">${hasTimes && words.percentiles}</p></header>${
    stats.length === 0
      ? html`<div class="void"><p>${words.noNames[by]}</p></div>`
      : rows(call, { by, span, hasTimes }, stats)
  }${pager(call, { at: 'statistics', offset, limit: PAGE, total, query: fields })}</section>`
}

interface Shown {
  readonly by: SubjectName
  readonly span: ShownSpan
  readonly hasTimes: boolean
}

/** The columns that are sorted by, in their order; those that small screens leave out. */
const COLUMNS: readonly (readonly [name: SortName, isWide: boolean])[] = [
  ['accepted', true],
  ['delivered', false],
  ['bounced', false],
  ['opened', true],
  ['clicked', true],
  ['unsubscribed', true],
  ['complained', true],
]

function rows(call: AccountCall, shown: Shown, stats: readonly NamedCounts[]): Html {
  const words = statisticsWords(call.language)
  const { by, hasTimes } = shown
  const head = words.heads[by]
  const scale = percentileScale(stats.flatMap(({ deliveryTime }) => deliveryTime ?? []))
  const ends = scale.ends.map((seconds) => call.format.duration(seconds * 1000))
  const times =
    hasTimes &&
    html`<th class="hb wide-only"><span class="row"><span>${ends[0]}</span><span class="push">${ends[1]}</span></span></th>
    <th class="n wide-only">p50</th><th class="n wide-only">p90</th><th class="n wide-only">p99</th>`
  return html`<div class="scroll" tabindex="0" role="region" aria-label="${head}"><table><thead><tr><th>${head}</th>${COLUMNS.map(
    ([name, isWide]) => sortHead(call, shown, name, isWide),
  )}${times}</tr></thead><tbody>${stats.map((one) => row(call, shown, one, scale))}</tbody></table></div>`
}

function sortHead(call: AccountCall, { by, span }: Shown, name: SortName, isWide: boolean): Html {
  const { first, last, period } = span
  const isSorted = name === sortOf(call)
  const query = new URLSearchParams({ from: first, to: last, period, by, sort: name })
  const target = `${call.path('statistics')}?${query.toString()}`
  return html`<th class="n${isWide && ' wide-only'}"${isSorted && html` aria-sort="descending"`}><a class="sort" href="${target}">
    ${statisticsWords(call.language)[name]}${isSorted && ' ↓'}</a></th>`
}

function row(call: AccountCall, shown: Shown, one: NamedCounts, scale: Scale): Html {
  const { number, share, duration } = call.format
  const { counts, deliveryTime: time } = one
  const { processed, sent, hard_bounced, soft_bounced, expired } = counts
  const seconds = (value: number | undefined): Value => (value === undefined ? '–' : duration(value * 1000))
  const wide = (value: Value, dim = false) => html`<td class="n wide-only${dim && ' dim'}">${value}</td>`
  return html`<tr><th scope="row" class="any hb">${nameOf(call, shown, one.name)}</th>${wide(number(processed))}
  <td class="n">${number(sent)}</td><td class="n">${share(hard_bounced + soft_bounced + expired, processed)}</td>
  ${wide(share(counts.unique_opened, sent))}${wide(share(counts.unique_clicked, sent))}${wide(share(counts.unsubscribed, sent))}
  ${wide(share(counts.complained, sent))}${
    shown.hasTimes &&
    html`<td class="hb wide-only">${time && percentileBar(scale, time)}</td>${wide(seconds(time?.p50), true)}${wide(seconds(time?.p90), true)}
    ${wide(seconds(time?.p99), true)}`
  }</tr>`
}

/** The name, as a link to its messages of the span. */
function nameOf(call: AccountCall, { by, span }: Shown, name: string | null): Html {
  const words = statisticsWords(call.language)
  if (name === null || name === OTHER_PROVIDERS) return html`<span class="faint">${words.others}</span>`
  const found = searchOf(by, name)
  if (found === undefined || !call.may('events')) return foreign(name)
  const query = `${found} after:${span.first} before:${daysBefore(span.last, -1)}`
  return html`<a href="${call.path('messages')}?${new URLSearchParams({ q: query }).toString()}">${foreign(name)}</a>`
}

/** The search for the messages of a name; undefined for providers, which have too many domains for one. */
function searchOf(by: SubjectName, name: string): string | undefined {
  if (by === 'provider') {
    const domains = MAILBOX_PROVIDERS.get(name) ?? []
    return domains.length === 1 ? `to:@${domains[0]}` : undefined
  }
  if (by === 'tag') return `tag:"${name.replaceAll('\\', '\\\\').replaceAll('"', '\\"')}"`
  return by === 'site' ? `to:@${name}` : `from:@${name}`
}
