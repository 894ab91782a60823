/** The v2, v3 and SMTP forms of one client error. */
export interface ErrorRow {
  /** v2 `error_code`. */
  readonly v2: number
  readonly group: ErrorGroup
  /** The HTTP status of v2 and v3. */
  readonly status: number
  /** The public text; `{name}` is replaced by the error's value of that name. */
  readonly sentence: string
  /** The SMTP reply: code, enhanced code and, if it differs from `sentence`, the text with the same placeholders. */
  readonly smtp: readonly [code: number, enhanced: string, sentence?: string]
}

export type ErrorGroup =
  | 'Method'
  | 'Validation'
  | 'Common'
  | 'SendEmail'
  | 'Domain'
  | 'Suppression'
  | 'Template'
  | 'Attachment'
  | 'Credit'
  | 'Subaccount'
  | 'Key'
  | 'Privacy'
  | 'Account'
  | 'Events'
  | 'Message'
  | 'Export'
  | 'Webhook'
  | 'Service'

export function row(
  v2: number,
  group: ErrorRow['group'],
  status: number,
  sentence: string,
  smtpCode: number,
  enhanced: string,
  smtpSentence?: string,
): ErrorRow {
  return { v2, group, status, sentence, smtp: smtpSentence ? [smtpCode, enhanced, smtpSentence] : [smtpCode, enhanced] }
}
