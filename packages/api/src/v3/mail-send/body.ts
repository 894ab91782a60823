/**
 * The body of POST /v3/mail/send (contract 2.1) after its types were checked. Fields of type `unknown` are checked by the rules.
 */
export interface RawMail {
  readonly personalizations?: readonly RawPersonalization[] | null
  readonly from?: RawMailbox | null
  readonly reply_to?: RawMailbox | null
  readonly reply_to_list?: readonly RawMailbox[] | null
  readonly subject?: unknown
  readonly content?: readonly RawContent[] | null
  readonly attachments?: readonly RawAttachment[] | null
  readonly template_id?: unknown
  readonly sections?: Readonly<Record<string, unknown>> | null
  readonly headers?: Readonly<Record<string, unknown>> | null
  readonly categories?: unknown
  readonly custom_args?: Readonly<Record<string, string>> | null
  readonly send_at?: unknown
  readonly batch_id?: unknown
  readonly asm?: { readonly group_id?: unknown; readonly groups_to_display?: unknown } | null
  readonly ip_pool_name?: unknown
  readonly mail_settings?: RawMailSettings | null
  readonly tracking_settings?: Readonly<Record<string, RawSetting | null>> | null
}

export interface RawMailbox {
  readonly email?: unknown
  readonly name?: string | null
}

export interface RawPersonalization {
  readonly to?: readonly RawMailbox[] | null
  readonly cc?: readonly RawMailbox[] | null
  readonly bcc?: readonly RawMailbox[] | null
  readonly from?: RawMailbox | null
  readonly subject?: unknown
  readonly headers?: Readonly<Record<string, unknown>> | null
  readonly substitutions?: Readonly<Record<string, string>> | null
  readonly dynamic_template_data?: Readonly<Record<string, unknown>> | null
  readonly custom_args?: Readonly<Record<string, string>> | null
  readonly send_at?: unknown
}

export interface RawContent {
  readonly type?: unknown
  readonly value?: unknown
}

export interface RawAttachment {
  readonly content?: unknown
  readonly filename?: unknown
  readonly type?: unknown
  readonly disposition?: unknown
  readonly content_id?: unknown
}

export type RawSetting = Readonly<Record<string, unknown>>
export type RawMailSettings = Readonly<Record<string, RawSetting | null>>

/** Maximum number of recipients of a message, and of elements in its personalizations. */
export const MAX_RECIPIENTS = 1000

/** Clients omit a field or set it to null. */
export function isGiven<T>(value: T | null | undefined): value is T {
  return value !== undefined && value !== null
}

/** Whether any of its members is given: a library that has none sends `{}`. */
export function isNamed(mailbox: RawMailbox | null | undefined): mailbox is RawMailbox {
  return isGiven(mailbox) && (isGiven(mailbox.email) || isGiven(mailbox.name))
}

export function isEnabled(setting: RawSetting | null | undefined): boolean {
  return setting?.enable === true
}

/** Whether the id is that of a dynamic template; the others are GUIDs (contract 3.1). */
export function isDynamic(templateId: unknown): boolean {
  return typeof templateId === 'string' && /^d-[0-9a-f]{32}$/i.test(templateId)
}

export function isLegacy(templateId: unknown): boolean {
  return typeof templateId === 'string' && /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(templateId)
}
