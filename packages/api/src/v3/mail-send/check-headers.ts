import { isGiven } from './body.ts'
import { unfolded } from './unfolded.ts'
import type { ValidationErrors } from './validation-errors.ts'

/** Contract row 17. */
const RESERVED =
  /^(x-sg-id|x-sg-eid|received|dkim-signature|content-type|content-transfer-encoding|to|from|subject|reply-to|cc|bcc)$/i
/** RFC 5322 3.6.8: printable ASCII without colon. */
const FIELD_NAME = /^[!-9;-~]+$/

/** Rows 14 to 17, and no value may contain a line break, except in a fold. */
export function checkHeaders(
  headers: Readonly<Record<string, unknown>> | null | undefined,
  field: string,
  errors: ValidationErrors,
): void {
  if (!isGiven(headers)) return
  const seen = new Set<string>()
  for (const [name, value] of Object.entries(headers)) {
    if (!FIELD_NAME.test(name)) errors.add('headerNameInvalid', field)
    else if (RESERVED.test(name)) errors.add('headerReserved', `${field}.${name}`)
    else if (seen.has(name.toLowerCase())) errors.add('headerTwice', field)
    seen.add(name.toLowerCase())
    if (typeof value !== 'string') errors.add('headerValueInvalid', field)
    else if (/[\r\n\0]/.test(unfolded(value))) errors.add('headerBreaks', `${field}.${name}`)
  }
}
