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

export function reputationMeters({ language, format }: AccountCall, rates: readonly [Rate, Rate]): Html {
  const words = overviewWords(language)
  return html`<section class="box"><header><h2>${words.reputation}</h2><p>${words.lastDays}</p></header><div class="pad cols">
${rates.map(({ name, hint, part, all, bounds }) => meter(name, format.share(part, all), percent(part, all), bounds, hint))}
</div></section>`
}

function percent(part: number, all: number): number {
  return all === 0 ? 0 : (100 * part) / all
}

function meter(name: string, shown: string, value: number, { look, tooMuch }: typeof BOUNCES, hint: string): Html {
  const end = tooMuch * 1.2
  const x = (at: number) => Math.min(100, (100 * at) / end).toFixed(1)
  const fill = value >= tooMuch ? 'fbad' : value >= look ? 'fwait' : 'fgood'
  return html`<div class="stack xs"><div class="row"><span class="dim">${name}</span><b class="push">${shown}</b></div>
    <svg class="meter" viewBox="0 0 100 8" preserveAspectRatio="none" aria-hidden="true"><rect class="fline" width="100" height="8"/>
    <rect class="${fill}" width="${x(value)}" height="8"/><rect class="fwait" x="${x(look)}" width=".7" height="8"/>
    <rect class="fbad" x="${x(tooMuch)}" width=".7" height="8"/></svg><small class="faint">${hint}</small></div>`
}
