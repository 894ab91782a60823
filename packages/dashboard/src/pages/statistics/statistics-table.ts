import type { NamedCounts, Subject, SumsAnswer } from '@postrider/core'
import { foreign, type Html, html, type Value } from '@postrider/ui'
import { type Attempt, attempt } from '../../frame/attempt.ts'
import { type AccountCall, field } from '../../frame/call.ts'
import { offsetOf, pager } from '../../frame/pager.ts'
import { problemNote } from '../../frame/parts.ts'
import type { ShownSpan } from './span.ts'
import { statisticsWords } from './statistics-words.ts'

/** The groupings of the table, by their name in the query. */
export const SUBJECTS = { site: 'recipient_domain', tag: 'tag', domain: 'domain' } as const satisfies Record<
  string,
  Subject
>
export type SubjectName = keyof typeof SUBJECTS
const NAMES = Object.keys(SUBJECTS) as SubjectName[]
const PAGE = 50

/** Returns the grouping of the query: by recipient domain, unless it says otherwise. */
export function subjectOf({ query }: AccountCall): SubjectName {
  return NAMES.find((name) => name === field(query, 'by')) ?? 'site'
}

/** The page of names whose sums are read. */
export interface SumsPage {
  readonly limit: number
  readonly offset: number
}

/** A page of sums. */
export interface SumsRead extends SumsAnswer {
  /** Whether the delivery times were read. */
  readonly hasTimes: boolean
}

/**
 * Returns the sums by name, with delivery times if the account does not have too many names for that in this span. Not ok: it has too many
 * even without.
 */
export async function readSums(
  call: AccountCall,
  { first, last }: ShownSpan,
  page: SumsPage,
): Promise<Attempt<SumsRead>> {
  const question = { accountId: call.account.id, subject: SUBJECTS[subjectOf(call)], first, last, ...page }
  const read = (hasTimes: boolean) =>
    attempt(async () => ({ ...(await call.core.stats.sums({ ...question, times: hasTimes }, call.reads)), hasTimes }))
  const withTimes = await read(true)
  return withTimes.ok ? withTimes : read(false)
}

/** The table by recipient domain, tag or sending domain. */
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
  const { stats, total } = found.value
  const fields = { from: first, to: last, period, by }
  return html`<section class="box"><header>${seg}<p class="push wide-only">${words.percentiles}</p></header>${
    stats.length === 0 ? html`<div class="void"><p>${words.noNames[by]}</p></div>` : rows(call, by, stats)
  }${pager(call, { at: 'statistics', offset, limit: PAGE, total, query: fields })}</section>`
}

function rows(call: AccountCall, by: SubjectName, stats: readonly NamedCounts[]): Html {
  const words = statisticsWords(call.language)
  const head = words.heads[by]
  return html`<div class="scroll" tabindex="0" role="region" aria-label="${head}"><table><thead><tr><th>${head}</th><th class="n">${words.accepted}
    </th><th class="n">${words.delivered}</th><th class="n">${words.bounced}</th><th class="n wide-only">${words.opened}</th><th class="n wide-only">
    ${words.clicked}</th><th class="n wide-only">${words.complained}</th><th class="n wide-only">p50</th><th class="n wide-only">p90</th>
    <th class="n wide-only">p99</th></tr></thead><tbody>${stats.map((one) => row(call, one))}</tbody></table></div>`
}

function row({ format, language }: AccountCall, { name, counts, deliveryTime: time }: NamedCounts): Html {
  const { number, share, duration } = format
  const { processed, sent, hard_bounced, soft_bounced, expired } = counts
  const seconds = (value: number | undefined): Value => (value === undefined ? '–' : duration(value * 1000))
  return html`<tr><th scope="row" class="any hb">${
    name === null ? html`<span class="faint">${statisticsWords(language).others}</span>` : foreign(name)
  }</th><td class="n">${number(processed)}</td><td class="n">${number(sent)}</td><td class="n">
  ${share(hard_bounced + soft_bounced + expired, processed)}</td><td class="n wide-only">${share(counts.unique_opened, sent)}</td>
  <td class="n wide-only">${share(counts.unique_clicked, sent)}</td><td class="n wide-only">${share(counts.complained, sent)}</td>
  <td class="n dim wide-only">${seconds(time?.p50)}</td><td class="n dim wide-only">${seconds(time?.p90)}</td><td class="n dim wide-only">
  ${seconds(time?.p99)}</td></tr>`
}
