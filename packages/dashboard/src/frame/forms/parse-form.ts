import { ServiceError } from '@postrider/core'
import type { Form } from '../call.ts'

/** Maximum octets of a form: a template's editor is the largest. */
export const FORM_LIMIT = 2 * 1024 * 1024
/** Fields of the largest form: a key with all its scopes, or a webhook with all its events, has far fewer. */
const MAX_FIELDS = 1000

/**
 * Parses a form (application/x-www-form-urlencoded, URL standard 5.1). Throws tooLarge for more than 1,000 fields: each costs more than its octets.
 */
export function parseForm(text: string): Form {
  let separators = 0
  for (let at = text.indexOf('&'); at !== -1; at = text.indexOf('&', at + 1)) {
    if (++separators >= MAX_FIELDS) throw new ServiceError('tooLarge', { values: { limit: `${MAX_FIELDS} fields` } })
  }
  const form = new Map<string, string | string[]>()
  for (const [name, value] of new URLSearchParams(text)) {
    const known = form.get(name)
    form.set(name, known === undefined ? value : [...[known].flat(), value])
  }
  return Object.fromEntries(form)
}
