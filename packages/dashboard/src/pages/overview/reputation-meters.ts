import type { CountsOfSpan } from '@postrider/core'
import { type Html, html } from '@postrider/ui'
import type { AccountCall } from '../../frame/call.ts'
import { overviewWords } from './overview-words.ts'

/** Per cent at which providers look twice, and what is too much. */
const BOUNCES = { look: 2, tooMuch: 5 }
const COMPLAINTS = { look: 0.1, tooMuch: 0.3 }

export interface Rate {
  readonly name: string
  readonly hint: string
  readonly part: number
  readonly all: number
  readonly bounds: typeof BOUNCES
}

/** The two rates that providers judge a sender by; the counts are those of 30 days. */
export function ratesOf({ language }: AccountCall, counts: Omit<CountsOfSpan, 'at'>): readonly [Rate, Rate] {
  const { bounceRate, bounceHint, complaintRate, complaintHint } = overviewWords(language)
  const { hard, soft, complained, accepted, delivered } = counts
  return [
    { name: bounceRate, hint: bounceHint, part: hard + soft, all: accepted, bounds: BOUNCES },
    { name: complaintRate, hint: complaintHint, part: complained, all: delivered, bounds: COMPLAINTS },
  ]
}

export function isTooHigh({ part, all, bounds }: Rate): boolean {
  return percent(part, all) >= bounds.tooMuch
}

export function reputationMeters(call: AccountCall, rates: readonly [Rate, Rate]): Html {
  const words = overviewWords(call.language)
  return html`<section class="box"><header><h2>${words.reputation}</h2><p>${words.lastDays}</p></header><div class="pad cols">
${rates.map((rate) => meter(call, rate))}
</div></section>`
}

function percent(part: number, all: number): number {
  return all === 0 ? 0 : (100 * part) / all
}

/** "0.49 %, 5 of 1,014; too much from 0.3 %". */
export function rateText({ format, language }: AccountCall, { part, all, bounds }: Rate): string {
  const words = overviewWords(language)
  const share = format.share(part, all)
  return words.rateOf(share, format.number(part), format.number(all), format.share(bounds.tooMuch, 100))
}

/** A bar on a scale from 0 that holds the value, however high it is, and both bounds. */
function meter({ format }: AccountCall, { name, hint, part, all, bounds }: Rate): Html {
  const { look, tooMuch } = bounds
  const value = percent(part, all)
  const end = Math.min(100, Math.max(tooMuch, value) * 1.2)
  const x = (at: number) => ((100 * at) / end).toFixed(1)
  const fill = value >= tooMuch ? 'fbad' : value >= look ? 'fwait' : 'fgood'
  return html`<div class="stack xs"><div class="row"><span class="dim">${name}</span><b class="push">${format.share(part, all)}</b></div>
    <svg class="meter" viewBox="0 0 100 8" preserveAspectRatio="none" aria-hidden="true"><rect class="fline" width="100" height="8"/>
    <rect class="${fill}" width="${x(value)}" height="8"/><rect class="fwait" x="${x(look)}" width=".7" height="8"/>
    <rect class="fbad" x="${x(tooMuch)}" width=".7" height="8"/></svg>
    <div class="row faint" aria-hidden="true"><small>0 %</small><small class="push">${format.share(end, 100)}
    </small></div><small class="faint">${hint}</small></div>`
}
