import type { Counts, StatsAnswer } from '@postrider/core'
import { type Html, html } from '@postrider/ui'
import type { AccountCall } from '../../frame/call.ts'
import type { ShownSpan } from './span.ts'
import { statisticsWords } from './statistics-words.ts'

type Total = { -readonly [Name in keyof Counts]: Counts[Name] }

/** The counts of all periods together. */
export function sumOf({ periods }: StatsAnswer): Counts {
  const total = {} as Total
  for (const { stats } of periods)
    for (const { counts } of stats)
      for (const [name, count] of Object.entries(counts) as [keyof Counts, number][])
        total[name] = (total[name] ?? 0) + count
  return total
}

/** A number of a tile, and what it is a share of; undefined: it is shown as it is. */
interface Figure {
  readonly of: (counts: Counts) => number
  readonly among?: (counts: Counts) => number
}

const bounced = ({ hard_bounced, soft_bounced, expired }: Counts) => hard_bounced + soft_bounced + expired
const accepted = ({ processed }: Counts) => processed
const delivered = ({ sent }: Counts) => sent

/** The sums of the span, each with that of the days before. `prior`: undefined if these were not counted. */
export function statisticsTiles(
  { format, language }: AccountCall,
  total: Counts,
  prior: Counts | undefined,
  before: Pick<ShownSpan, 'first' | 'last'>,
): Html {
  const words = statisticsWords(language)
  const { number, share } = format
  const [first, last] = format.period(before.first, before.last)
  const shown = ({ of, among }: Figure, counts: Counts) =>
    among ? share(of(counts), among(counts)) : number(of(counts))
  const hasPrior = prior !== undefined && Object.values(prior).some((count) => count > 0)
  const tile = (name: string, figure: Figure, small: string) =>
    html`<div class="tile"><span class="k">${name}</span><span class="v">${shown(figure, total)}</span><small>${small}</small>${
      hasPrior && html`<small title="${words.beforeDays(first, last)}">${words.before(shown(figure, prior))}</small>`
    }</div>`
  return html`<section class="tiles" aria-label="${words.title}">
${tile(words.accepted, { of: accepted }, words.deliveries)}
${tile(words.delivered, { of: delivered }, words.ofAccepted(share(total.sent, total.processed)))}
${tile(words.bounced, { of: bounced, among: accepted }, words.bouncedSmall(number(total.hard_bounced), number(bounced(total) - total.hard_bounced)))}
${tile(words.opened, { of: ({ unique_opened }) => unique_opened, among: delivered }, words.byPeople(number(total.unique_opened)))}
${tile(words.clicked, { of: ({ unique_clicked }) => unique_clicked, among: delivered }, words.byPeople(number(total.unique_clicked)))}
${tile(words.unsubscribed, { of: ({ unsubscribed }) => unsubscribed, among: delivered }, words.complainedSmall(number(total.unsubscribed)))}
${tile(words.complained, { of: ({ complained }) => complained, among: delivered }, words.complainedSmall(number(total.complained)))}
</section>${hasPrior && html`<p class="hint">${words.beforeDays(first, last)}</p>`}`
}
