import type { CreditOutlook, Domain, ShownHold } from '@postrider/core'
import { type Html, html } from '@postrider/ui'
import type { AccountCall } from '../../frame/call.ts'
import { creditsWords } from '../credits/credits-words.ts'
import { ruleText } from '../operator/standing.ts'
import { overviewWords } from './overview-words.ts'
import type { Rate } from './reputation-meters.ts'

export interface Unwell {
  readonly domains: readonly Domain[]
  readonly holds: readonly ShownHold[]
  /** Undefined for roles that may not see it. */
  readonly credit: CreditOutlook | undefined
  /** Those that are too high. */
  readonly rates: readonly Rate[]
}

/** Holds, rates that are too high, domains whose records are wrong, and credit that is nearly used up. */
export function needsAttention(call: AccountCall, { domains, holds, credit, rates }: Unwell): Html {
  const { language, icon, path, format } = call
  const words = overviewWords(language)
  const count = domains.length + holds.length + rates.length + (credit?.isLow ? 1 : 0)
  if (count === 0)
    return html`<header><h2>${words.needs}</h2></header><div class="void">${icon('check', 'good')}<p>${words.allWell}</p></div>`
  return html`<header><h2>${words.needs}</h2><span class="badge wait push">${count}</span></header><ul class="list">
${holds.map(
  (hold) =>
    html`<li>${icon('warn', hold.level === 'held' ? 'bad' : 'wait')}<div><b>${words.holdTitle(hold.level)}</b><p>
      ${ruleText(call, hold)}. <a href="/docs/guides/reputation">${words.holdGuide}</a></p></div></li>`,
)}${rates.map(
  ({ name, hint, part, all }) =>
    html`<li>${icon('warn', 'bad')}<div><b>${name}: ${format.share(part, all)}</b><p>
      ${hint} <a href="/docs/guides/reputation">${words.holdGuide}</a></p></div></li>`,
)}${credit?.isLow && creditItem(call, credit)}${domains.map(({ name, brokenSince }) => {
  const [title, text] = brokenSince ? [words.broken(name), words.brokenText] : [words.pending(name), words.pendingText]
  return html`<li>${icon('globe', brokenSince ? 'bad' : 'wait')}<div><a class="go" href="${path(`domains/${name}`)}">${title}</a><p>${text}</p></div></li>`
})}</ul>`
}

function creditItem({ format, icon, language, path }: AccountCall, { credit, granted }: CreditOutlook): Html {
  const words = creditsWords(language)
  const available = credit.available ?? 0
  const title = available === 0 ? words.none : words.low(format.share((granted ?? 0) - available, granted ?? 0))
  return html`<li>${icon('warn', available === 0 ? 'bad' : 'wait')}<div><a class="go" href="${path('credits')}">${title}</a><p>${words.lowText}</p></div></li>`
}
