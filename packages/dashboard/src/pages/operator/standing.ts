import type { HoldLevel, ShownHold } from '@postrider/core'
import { foreign, type Html, html, type IconName, type Tone, type Value } from '@postrider/ui'
import type { Call } from '../../frame/call.ts'
import { standingWords } from './standing-words.ts'

const SIGNS: Readonly<Record<HoldLevel | 'good', readonly [IconName, Tone]>> = {
  good: ['s-delivered', 'good'],
  warned: ['warn', 'wait'],
  slowed: ['s-deferred', 'wait'],
  held: ['pause', 'bad'],
}

/** The standing of an account as a sign and a word. */
export function levelMark({ icon, language }: Pick<Call, 'icon' | 'language'>, level: HoldLevel | 'good'): Html {
  const [sign, tone] = SIGNS[level]
  return html`<span class="state ${tone}">${icon(sign, tone)}<span>${standingWords(language).levels[level]}</span></span>`
}

/** Why an account is warned, slowed or held; of an operator's hold, the reason. */
export function ruleText({ language }: Pick<Call, 'language'>, { rule, reason }: ShownHold): Value {
  const { rules } = standingWords(language)
  const said = Object.hasOwn(rules, rule) ? rules[rule as keyof typeof rules] : rule
  return reason === null ? said : html`${said}: “${foreign(reason)}”`
}

/** Figures of which one is a part of the other, with a share. */
const PARTS = [
  ['bounces', 'outcomes'],
  ['complained', 'delivered'],
] as const

/**
 * The figures of the rule, its limit, and what follows from them: "0.49 %, 5 complaints of 1,014 deliveries since 11:20; warned from 0.1 %; to 200 messages
 * per hour".
 */
export function figuresText({ format, language }: Call, { figures, rate, classes, limits, since }: ShownHold): string {
  const words = standingWords(language)
  const said = (name: string, value: number) => {
    const known = Object.hasOwn(words.figures, name) ? words.figures[name as keyof typeof words.figures] : undefined
    // The others are shares at the providers with these names.
    return known ? known(format.number(value)) : `${name} ${format.share(value, 1)}`
  }
  const pair = PARTS.find(([part, all]) => figures[part] !== undefined && figures[all] !== undefined)
  const others = Object.entries(figures).filter(([name]) => name !== 'share' && !pair?.some((one) => one === name))
  const share = figures.share === undefined ? [] : [format.share(figures.share, 1)]
  const counted = [
    ...share,
    ...(pair
      ? [words.partOf(said(pair[0], figures[pair[0]] as number), said(pair[1], figures[pair[1]] as number))]
      : []),
    ...others.map(([name, value]) => said(name, value)),
  ].join(', ')
  const effects = [
    ...(limits?.warned === undefined ? [] : [words.warnedFrom(format.share(limits.warned, 1))]),
    ...(classes.length > 0 ? [words.classes(classes.join(', '))] : []),
    ...(rate === null ? [] : [words.rate(format.number(rate))]),
  ]
  const first = counted === '' ? '' : `${counted} ${words.since(format.plainTime(since))}`
  return [first, effects.join(', ')].filter((text) => text !== '').join('; ')
}
