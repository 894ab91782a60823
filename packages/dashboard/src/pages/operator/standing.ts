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

/** The figures of the rule, and what follows from them: "41 hard bounces, 300 outcomes, 13.7 %; to 200 messages per hour". */
export function figuresText({ format, language }: Call, { figures, rate, classes }: ShownHold): string {
  const words = standingWords(language)
  const counted = Object.entries(figures).map(([name, value]) => {
    const known = Object.hasOwn(words.figures, name) ? words.figures[name as keyof typeof words.figures] : undefined
    // The others are shares at the providers with these names.
    if (!known) return `${name} ${format.share(value, 1)}`
    return known(name === 'share' ? format.share(value, 1) : format.number(value))
  })
  const effects = [
    ...(classes.length > 0 ? [words.classes(classes.join(', '))] : []),
    ...(rate === null ? [] : [words.rate(format.number(rate))]),
  ]
  return [counted.join(', '), effects.join(', ')].filter((text) => text !== '').join('; ')
}
