import { checkAttachments } from './check-attachments.ts'
import { checkContent, checkSubject, checkTemplate } from './check-content.ts'
import { checkHeaders } from './check-headers.ts'
import { checkFrom, checkReplyTo } from './check-mailboxes.ts'
import { checkOptions } from './check-options.ts'
import { checkPersonalizations } from './check-personalizations.ts'
import { checkMailSettings, checkTrackingSettings } from './check-settings.ts'
import type { Check } from './validation-errors.ts'

/** Applies the rules of the contract's 2.3 in the order in which errors are reported (2.4). Throws V3Refusal with all errors. */
export function checkMail(check: Check): void {
  checkFrom(check)
  checkPersonalizations(check)
  checkSubject(check)
  checkContent(check)
  checkReplyTo(check)
  checkTemplate(check)
  checkAttachments(check)
  checkHeaders(check.mail.headers, 'headers', check.errors)
  checkOptions(check)
  checkMailSettings(check)
  checkTrackingSettings(check)
  check.errors.throwIfAny()
}
