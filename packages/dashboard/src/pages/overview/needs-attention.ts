import type { Attention, CreditOutlook, Domain, ShownHold, Webhook } from '@postrider/core'
import { foreign, type Html, html, type IconName, type Tone, type Value } from '@postrider/ui'
import type { AccountCall } from '../../frame/call.ts'
import { creditsWords } from '../credits/credits-words.ts'
import { figuresText, ruleText } from '../operator/standing.ts'
import { stateOf, webhookName } from '../webhooks/webhook-state.ts'
import { attentionWords } from './attention-words.ts'
import { overviewWords } from './overview-words.ts'
import { type Rate, rateText } from './reputation-meters.ts'

export interface Unwell extends Attention {
  readonly domains: readonly Domain[]
  readonly holds: readonly ShownHold[]
  /** Undefined for roles that may not see it. */
  readonly credit: CreditOutlook | undefined
  /** Those that are too high. */
  readonly rates: readonly Rate[]
  /** Those that are failing, or that the service disabled. */
  readonly webhooks: readonly Webhook[]
}

interface Item {
  readonly sign: IconName
  readonly tone: Tone
  readonly title: Value
  readonly text: Value
  /** The page where it is seen to, below the account's; without, the title is no link. */
  readonly to?: string
}

/** Returns what needs attention, the worst first, each with what to do. */
export function itemsOf(call: AccountCall, unwell: Unwell): readonly Item[] {
  return [
    ...standingItems(call, unwell),
    ...unwell.webhooks.map((webhook) => webhookItem(call, webhook)),
    ...(unwell.credit?.isLow ? [creditItem(call, unwell.credit)] : []),
    ...unwell.domains.map((domain) => domainItem(call, domain)),
    ...noticedItems(call, unwell),
  ]
}

/** The list of these items; without any, that all is well. */
export function needsAttention({ language, icon, path }: AccountCall, items: readonly Item[]): Html {
  const words = overviewWords(language)
  if (items.length === 0)
    return html`<header><h2>${words.needs}</h2></header><div class="void">${icon('check', 'good')}<p>${words.allWell}</p></div>`
  return html`<header><h2>${words.needs}</h2><span class="badge wait push">${items.length}</span></header><ul class="list">${items.map(
    ({ sign, tone, title, text, to }) =>
      html`<li>${icon(sign, tone)}<div>${
        to === undefined ? html`<b>${title}</b>` : html`<a class="go" href="${path(to)}">${title}</a>`
      }<p>${text}</p></div></li>`,
  )}</ul>`
}

function standingItems(call: AccountCall, { holds, rates }: Unwell): Item[] {
  const words = overviewWords(call.language)
  const guide = html`<a href="/docs/guides/reputation">${words.holdGuide}</a>`
  return [
    ...holds.map((hold): Item => {
      const figures = figuresText(call, hold)
      return {
        sign: 'warn',
        tone: hold.level === 'held' ? 'bad' : 'wait',
        title: words.holdTitle(hold.level),
        text: html`${ruleText(call, hold)}${figures !== '' && `: ${figures}`}. ${guide}`,
      }
    }),
    ...rates.map(
      (rate): Item => ({
        sign: 'warn',
        tone: 'bad',
        title: `${rate.name}: ${call.format.share(rate.part, rate.all)}`,
        text: html`${rateText(call, rate)}. ${rate.hint} ${guide}`,
      }),
    ),
  ]
}

function webhookItem({ language, format }: AccountCall, webhook: Webhook): Item {
  const words = attentionWords(language)
  const isDisabled = stateOf(webhook) === 'disabled'
  const since = isDisabled ? webhook.disabledAt : webhook.failingSince
  const time = since === null ? '' : format.plainTime(since)
  return {
    sign: 'webhook',
    tone: isDisabled ? 'bad' : 'wait',
    title: html`${isDisabled ? words.webhookDisabled : words.webhookFailing}: ${foreign(webhookName(webhook))}`,
    text: isDisabled ? words.webhookDisabledText(time) : words.webhookFailingText(time),
    to: `webhooks/${webhook.id}`,
  }
}

function creditItem({ format, language }: AccountCall, { credit, granted }: CreditOutlook): Item {
  const words = creditsWords(language)
  const available = credit.available ?? 0
  const title = available === 0 ? words.none : words.low(format.share((granted ?? 0) - available, granted ?? 0))
  return { sign: 'warn', tone: available === 0 ? 'bad' : 'wait', title, text: words.lowText, to: 'credits' }
}

function domainItem({ language }: AccountCall, { name, brokenSince }: Domain): Item {
  const words = overviewWords(language)
  const [title, text] = brokenSince ? [words.broken(name), words.brokenText] : [words.pending(name), words.pendingText]
  return { sign: 'globe', tone: brokenSince ? 'bad' : 'wait', title, text, to: `domains/${name}` }
}

/** Keys that expire, members who get no mail, imports that have ended. */
function noticedItems({ language, format, may }: AccountCall, { keys, colleagues, imports }: Unwell): Item[] {
  const words = attentionWords(language)
  const own = may('keys.read') ? keys : []
  return [
    ...own.map(
      ({ name, expiresAt }): Item => ({
        sign: 'key',
        tone: 'wait',
        title: html`${words.keyExpires}: ${foreign(name)}`,
        text: words.keyExpiresText(format.plainTime(expiresAt)),
        to: 'keys',
      }),
    ),
    ...(may('suppressions.read') ? colleagues : []).map(
      ({ email }): Item => ({
        sign: 'ban',
        tone: 'wait',
        title: html`${words.colleague}: ${foreign(email)}`,
        text: words.colleagueText,
        to: 'suppressions',
      }),
    ),
    ...(may('templates.read') ? imports : []).map(
      ({ from, failure, at }): Item => ({
        sign: 'download',
        tone: failure === '' ? 'good' : 'wait',
        title: failure === '' ? words.importEnded : words.importIncomplete,
        text: html`${words.importText(from, format.plainTime(at))}${failure !== '' && html` ${foreign(failure)}.`}`,
        to: 'templates',
      }),
    ),
  ]
}
