import { type Additions, unsubscribeTextsOf } from './additions.ts'
import { fillHtml, fillText } from './links/fill-plan.ts'
import type { Links } from './links/links.ts'
import { type Plan, type PlanOptions, planHtml, planText } from './links/plan.ts'

/** What is needed to add to one recipient's copy. */
export interface AddTo {
  readonly additions: Additions
  readonly links: Links
  /** Links that begin with one of these are ours already. */
  readonly own: readonly string[]
}

/** How one copy differs from what its additions say. */
export interface AdderOptions {
  readonly literal?: PlanOptions['literal']
  /** The recipient's own unsubscribe links that may be in the text already: those that its tags became. */
  readonly unsubscribeLinks?: readonly string[]
}

interface Planned {
  readonly text: string
  readonly footer: string | undefined
  readonly plan: Plan | undefined
}

/** The last plan of each text of a message: copies that differ in nothing but their links share it. */
export type PlanCache = Partial<Record<'html' | 'text', Planned>>

export function planOptions({ additions, own }: AddTo, footer: string | undefined): PlanOptions {
  return {
    openTracking: additions.openTracking === true,
    clickTracking: additions.clickTracking === true,
    unsubscribe: additions.unsubscribe === true,
    footer,
    own,
    clickTrackingInText: additions.clickTrackingInText,
    openTag: additions.openTag,
    unsubscribeTag: additions.unsubscribeTexts?.tag,
    unsubscribeTexts: unsubscribeTextsOf(additions),
    linkParameters: additions.linkParameters,
  }
}

/** Puts into the texts of one composed copy, in the order they stand in it, what is on for its message. */
export class Adder {
  readonly #to: AddTo
  readonly #cache: PlanCache
  readonly #options: AdderOptions
  #link = 0

  constructor(to: AddTo, cache: PlanCache, options: AdderOptions = {}) {
    this.#to = to
    this.#cache = cache
    this.#options = options
  }

  text(text: string, footer: string | undefined): string {
    const plan = this.#plan('text', text, footer)
    if (!plan) return text
    const filled = fillText(plan, this.#to.links, this.#link)
    this.#link += plan.links
    return filled
  }

  html(html: string, footer: string | undefined): string {
    const plan = this.#plan('html', html, footer)
    if (!plan) return html
    const filled = fillHtml(plan, this.#to.links, this.#link)
    this.#link += plan.links
    return filled
  }

  #plan(kind: 'html' | 'text', text: string, footer: string | undefined): Plan | undefined {
    const known = this.#cache[kind]
    if (known && known.text === text && known.footer === footer) return known.plan
    const { literal, unsubscribeLinks = [] } = this.#options
    const isLinked = unsubscribeLinks.some((link) => text.includes(link))
    const options = { ...planOptions(this.#to, footer), literal, isLinked }
    const plan = kind === 'html' ? planHtml(text, options) : planText(text, options)
    this.#cache[kind] = { text, footer, plan }
    return plan
  }
}
