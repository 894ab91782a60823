/** The v2, v3 and SMTP forms of one client error. */
export interface ErrorRow {
  /** v2 `error_code`. */
  readonly v2: number
  readonly group: ErrorGroup
  /** The HTTP status of v2, and of v3 unless `v3` has its own. */
  readonly status: number
  /** The public text; `{name}` is replaced by the error's value of that name. */
  readonly sentence: string
  readonly smtp: SmtpForm
  /** undefined: v3 has the status and the text of the row. */
  readonly v3: V3Form | undefined
}

export interface SmtpForm {
  /** The reply code and the enhanced code. */
  readonly code: number
  readonly enhanced: string
  /** The reply's text if it differs from the row's, with the same placeholders. */
  readonly sentence: string | undefined
}

/** The status and texts of v3 where they differ from those of the row (v3 contract 1.4), with the same placeholders. */
export interface V3Form {
  readonly status?: number
  readonly message?: string
  /** The text on paths that send mail. */
  readonly whereSent?: string
}

export const V3_FORBIDDEN: V3Form = { status: 403, message: 'access forbidden' }
export const V3_MISSING: V3Form = { status: 404, message: 'resource not found' }
export const V3_RESTRICTED: V3Form = { message: 'The API key is not allowed to {problem}' }
export const V3_PARAMETER = {
  missing: { message: '{parameter} is required.' },
  invalid: { message: '{parameter} {problem}.' },
} as const satisfies Record<string, V3Form>

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

/** A row as it is written in the table. */
interface WrittenRow {
  readonly v2: number
  /** Default: 400. */
  readonly status?: number
  readonly sentence: string
  /** Reply code and enhanced code; 550 5.6.0 by default. */
  readonly smtp?: `${number} ${number}.${number}.${number}`
  readonly smtpSentence?: string
  readonly v3?: V3Form
}

/** Returns the rows of a group, by the names of their errors. */
export function errorsOf<Name extends string>(
  group: ErrorGroup,
  rows: Readonly<Record<Name, WrittenRow>>,
): Readonly<Record<Name, ErrorRow>> {
  const entries = Object.entries<WrittenRow>(rows).map(([name, row]): [string, ErrorRow] => {
    const [code, enhanced] = (row.smtp ?? '550 5.6.0').split(' ') as [string, string]
    const { v2, status = 400, sentence, smtpSentence, v3 } = row
    return [name, { v2, group, status, sentence, smtp: { code: Number(code), enhanced, sentence: smtpSentence }, v3 }]
  })
  return Object.fromEntries(entries) as Record<Name, ErrorRow>
}
