import { type ErrorEntry, V3Refusal } from '../refusal.ts'
import type { RawMail } from './body.ts'
import { HELP_PLACES } from './help-places.ts'
import { RULES, type Rule, type RuleName } from './rules.ts'

/** Maximum number of errors per response, which bounds its size. */
const MAX_ERRORS = 500
/** Maximum number of characters of a value that is echoed. */
const MAX_SHOWN_LENGTH = 100

/** Collects validation errors: contract 2.4 requires that they are reported together. */
export class ValidationErrors {
  readonly #found: ErrorEntry[] = []
  readonly #helpPage: string

  constructor(helpPage: string) {
    this.#helpPage = helpPage
  }

  /** Adds an error that has no rule, such as a wrong type. */
  addMessage(message: string, field: string): void {
    this.#keep(message, field, this.#help(anchorOf(field)))
  }

  add(name: RuleName, field: string, values: Readonly<Record<string, string | number>> = {}): void {
    const { sentence, anchor }: Rule = RULES[name]
    const shown = (value: string | number | undefined, whole: string): string =>
      String(value ?? whole).slice(0, MAX_SHOWN_LENGTH)
    // The text for a missing sender contains braces of its own.
    const message = sentence.replace(/\{(\w+)\}/g, (whole, key: string) => shown(values[key], whole))
    this.#keep(message, field, anchor === null ? null : this.#help(anchor ?? anchorOf(field)))
  }

  #keep(message: string, field: string, help: string | null): void {
    if (this.#found.length < MAX_ERRORS) this.#found.push({ message, field, help })
  }

  /** The place on the page; the page itself for what has no place there, so that no link leads nowhere. */
  #help(anchor: string): string {
    return Object.hasOwn(HELP_PLACES, anchor) ? `${this.#helpPage}#${anchor}` : this.#helpPage
  }

  get refusal(): V3Refusal {
    return new V3Refusal(400, this.#found)
  }

  /** Throws V3Refusal if there are errors. */
  throwIfAny(): void {
    if (this.#found.length > 0) throw this.refusal
  }
}

/** Maps whose keys are chosen by the client, so the help page has no entries for them. */
const MAPS = new Set(['headers', 'custom_args', 'substitutions', 'sections', 'dynamic_template_data'])

/** Contract 1.5: `personalizations.0.to.1.email` is explained at `message.personalizations.to`. */
export function anchorOf(field: string): string {
  const steps = field.split('.').filter((step) => !/^\d+$/.test(step))
  const map = steps.findIndex((step) => MAPS.has(step))
  const path = map === -1 ? steps : steps.slice(0, map + 1)
  if (path.at(-1) === 'email' && path.length > 1) path.pop()
  return `message.${path.join('.')}`
}

/** Input of the rules. */
export interface Check {
  readonly mail: RawMail
  readonly errors: ValidationErrors
  /** Milliseconds since 1970. */
  readonly now: number
}
