import { HELP_PLACES } from './help-places.ts'
import { RULES, type RuleName } from './rules.ts'

/** Path of the page that an error's `help` links to, below the service's base URL. The documentation serves it. */
export const HELP_PATH = '/docs/v3/errors.html'

/** The message for a field of the wrong JSON type. */
export const WRONG_TYPE = 'Invalid type. Expected: {expected}, given: {given}.'

/** The rules of one field of mail/send. */
export interface HelpSection {
  /** Anchor of the `help` links. */
  readonly id: string
  readonly heading: string
  readonly sentences: readonly string[]
}

/** Returns all rules of mail/send, by the field that they are about. */
export function helpSections(): readonly HelpSection[] {
  const places: Readonly<Record<string, readonly RuleName[]>> = HELP_PLACES
  return Object.entries(places).map(([id, rules]) => ({
    id,
    heading: headingOf(id),
    sentences: rules.length > 0 ? rules.map((rule) => RULES[rule].sentence) : [WRONG_TYPE],
  }))
}

function headingOf(anchor: string): string {
  if (anchor === '-Personalizations-Errors') return 'personalizations (missing)'
  if (anchor === 'message.recipient-errors') return 'personalizations: duplicate recipients'
  return anchor.slice('message.'.length)
}
