import { type AddedContent, unsubscribeTextsOf } from './added-content.ts'
import { fillHtml, fillText } from './links/fill-plan.ts'
import type { Links } from './links/links.ts'
import { type Plan, type PlanOptions, planHtml, planText } from './links/plan.ts'

/** The added content and links of one recipient's copy. */
export interface AddTo {
  readonly additions: AddedContent
  readonly links: Links
  /** URL prefixes of this service; links that begin with one of them are not tracked again. */
  readonly own: readonly string[]
}

/** Exceptions to the added content for one copy. */
export interface AdderOptions {
  readonly literal?: PlanOptions['literal']
  /** The recipient's unsubscribe links that the text may already contain, because they replaced its tags. */
  readonly unsubscribeLinks?: readonly string[]
}

interface Planned {
  readonly text: string
  readonly footer: string | undefined
  readonly untracked: ReadonlySet<string> | undefined
  readonly plan: Plan | undefined
}

/** The last plan of each text of a message, shared by copies that differ only in their links. */
export type PlanCache = Partial<Record<'html' | 'text', Planned>>

/** Returns the plan options for a copy whose footer is `footer`. */
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

/** Adds the message's added content to the texts of one composed copy. To be called in the order of the texts. */
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

  /** `untracked`: see {@link PlanOptions}. */
  text(text: string, footer: string | undefined, untracked?: ReadonlySet<string>): string {
    const plan = this.#plan('text', text, footer, untracked)
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

  #plan(
    kind: 'html' | 'text',
    text: string,
    footer: string | undefined,
    untracked?: ReadonlySet<string>,
  ): Plan | undefined {
    const known = this.#cache[kind]
    if (known?.text === text && known.footer === footer && known.untracked === untracked) return known.plan
    const { literal, unsubscribeLinks = [] } = this.#options
    const isLinked = unsubscribeLinks.some((link) => text.includes(link))
    const options = { ...planOptions(this.#to, footer), literal, isLinked, untracked }
    const plan = kind === 'html' ? planHtml(text, options) : planText(text, options)
    this.#cache[kind] = { text, footer, untracked, plan }
    return plan
  }
}
