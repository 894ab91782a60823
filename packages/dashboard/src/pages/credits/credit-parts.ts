import type { AuditEntry, Credit, CreditUsage } from '@postrider/core'
import { foreign, type Html, html, lineChart, type Value } from '@postrider/ui'
import type { AccountCall } from '../../frame/call.ts'
import { creditsWords } from './credits-words.ts'

/** Days of the chart of use. */
export const DAYS = 30

const DAY = 86_400_000

/** The first and the last day of the chart: days of credit are those of UTC. */
export function daysShown(now: Date): { first: string; last: string } {
  const key = (at: number) => new Date(at).toISOString().slice(0, 10)
  return { first: key(now.getTime() - (DAYS - 1) * DAY), last: key(now.getTime()) }
}

/** The credit that an account has left, in one word. */
export function leftText({ format, language }: AccountCall, { available }: Credit): string {
  return available === null ? creditsWords(language).unlimited : format.number(available)
}

/** "runs out on 3 Dec at this pace"; empty if it lasts for more than a year. */
export function forecastText({ format, language, now }: AccountCall, runsOutAt: Date | null): string {
  if (runsOutAt === null) return ''
  const words = creditsWords(language)
  return runsOutAt <= now ? words.usedUp : words.runsOut(format.dayOfKey(format.dayKey(runsOutAt)))
}

export interface Figures {
  readonly credit: Credit
  readonly used: number
  readonly perDay: number
  readonly runsOutAt: Date | null
}

/** Four numbers: what is left, what was used, the pace, and how long the credit lasts. */
export function creditTiles(call: AccountCall, { credit, used, perDay, runsOutAt }: Figures): Html {
  const { format, language, now } = call
  const words = creditsWords(language)
  const { limited, recurring } = credit
  const tile = (name: string, value: Value, small: Value) =>
    html`<div class="tile"><span class="k">${name}</span><span class="v">${value}</span><small>${small}</small></div>`
  const lasts =
    !limited || runsOutAt === null
      ? limited && perDay > 0
        ? words.lastsLong
        : '–'
      : runsOutAt <= now
        ? words.usedUp
        : format.dayOfKey(format.dayKey(runsOutAt))
  return html`<section class="tiles" aria-label="${words.title}">
${tile(words.left, leftText(call, credit), limited ? '' : words.unlimitedText)}
${tile(words.used, format.number(used), '')}
${tile(words.perDay, format.number(Math.round(perDay)), words.perDayText)}
${tile(words.lasts, lasts, limited ? words.atThisPace : '')}
${
  recurring &&
  tile(
    words.recurring,
    html`${format.number(recurring.amount)} <small>${words.every[recurring.every]}
  </small>`,
    recurring.active
      ? `${words.recurringLeft(format.number(recurring.left))}, ${words.until(format.dayOfKey(recurring.until))}`
      : words.inactive,
  )
}
</section>`
}

/** The use of each of the last 30 days, as a chart and a table. */
export function useChart({ format, language }: AccountCall, { days, used }: CreditUsage): Html {
  const words = creditsWords(language)
  const drawn = lineChart({
    series: [{ name: words.recipients, colour: 1, values: days.map((one) => one.used) }],
    labels: days.map(({ date }) => format.dayOfKey(date)),
    sentence: words.sentence(format.number(used)),
    number: format.number,
    table: { summary: words.asTable, first: words.day },
  })
  return html`<section class="box"><header><h2>${words.use}</h2><p>${words.useText}</p></header><div class="pad">${drawn}</div></section>`
}

/** Changes of credit from the audit log. `foot`: the way to other pages of it. */
export function historyBox(call: AccountCall, entries: readonly AuditEntry[], foot: Value = null): Html {
  const { format, language } = call
  const words = creditsWords(language)
  const names: Readonly<Record<string, string>> = words.actions
  const nameOf = (action: string) => names[action.slice('credit.'.length)] ?? action
  const head = html`<header><h2>${words.history}</h2><p>${words.historyText}</p></header>`
  if (entries.length === 0)
    return html`<section class="box">${head}<div class="void"><p>${words.noHistory}</p></div>${foot}</section>`
  return html`<section class="box">${head}<div class="scroll" tabindex="0" role="region" aria-label="${words.history}"><table><thead><tr><th>
    ${words.what}</th><th class="n">${words.before}</th><th class="n">${words.after}</th><th class="wide-only">${words.who}</th><th class="n">
    ${words.when}</th></tr></thead><tbody>${entries.map(
      (entry) =>
        html`<tr><td>${nameOf(entry.action)}<small class="any">${foreign(entry.object)}</small></td><td class="n dim">
        ${amount(call, entry.before?.credit)}</td><td class="n">${amount(call, entry.after?.credit)}</td><td class="wide-only dim">
        ${author(call, entry)}</td><td class="n faint">${format.time(entry.at)}</td></tr>`,
    )}</tbody></table></div>${foot}</section>`
}

function amount({ format, language }: AccountCall, value: unknown): string {
  if (typeof value === 'number') return format.number(value)
  return value === 'unlimited' ? creditsWords(language).unlimited : '–'
}

function author({ language }: AccountCall, { keyId, userName }: AuditEntry): Value {
  const words = creditsWords(language)
  if (userName !== null) return html`<span class="any">${foreign(userName)}</span>`
  return keyId === null ? words.operator : words.key(keyId)
}
