import { decodeWords } from '../../mime/words.ts'
import type { Stoppable } from '../../platform/concurrency/turns.ts'
import { tooDeepAt } from '../../platform/json-depth.ts'
import type { Field } from '../header.ts'
import { MAX_DEPTH, type ParsedObject, parseField } from '../json-field.ts'
import { type Filters, readFilters } from './smtpapi-filters.ts'
import { type SmtpApiProblem, Values } from './smtpapi-values.ts'

/*
 * X-SMTPAPI (v3 contract 8.2): a header field with a JSON object, by which clients of the mirrored service control a message sent over
 * SMTP. This module only parses it; it looks nothing up and rejects nothing.
 */

/** The parsed field. Omitted members are absent. */
export interface SmtpApi {
  /**
   * Replaces the RCPT recipients. Each recipient gets a copy with only their own address in To: one element of Submission.envelopes
   * each, with `to: [email]`. Addresses are as written; accept validates them.
   */
  readonly to?: readonly SmtpApiRecipient[]
  /**
   * Tag → one value for each of `to`, or of the RCPT recipients, by index; see {@link substitutionsOf}. For core's
   * createSubstituter, over Subject, Reply-To and every text part.
   */
  readonly sub?: ReadonlyMap<string, readonly string[]>
  /** Tag → text, for values of `sub` that contain the tag: createSubstituter's sections. */
  readonly section?: ReadonlyMap<string, string>
  /** Submission.tags, without duplicates. Events of the message show them in the original form, as text or as a list. */
  readonly categories?: readonly string[]
  readonly categoryIsList?: boolean
  /** v3's custom_args, in every event of the message. Tags in values are substituted; reserved event keys take precedence. */
  readonly uniqueArgs?: ReadonlyMap<string, string>
  /** Settings of single features under their v2 mail names; each says what it maps to. */
  readonly filters: Filters
  /** Submission.scheduledAt. A time in the past means immediately. */
  readonly sendAt?: Date
  /** The same for each recipient, by index. */
  readonly sendEachAt?: readonly Date[]
  /** v3's batch_id. */
  readonly batchId?: string
  /** MessageSettings.group, if the account has the group. */
  readonly groupId?: number
  /** v3's asm.groups_to_display. Also absent for an empty list: all groups. */
  readonly groupsToDisplay?: readonly number[]
  /** v3's ip_pool_name. */
  readonly ipPool?: string
}

export interface SmtpApiRecipient {
  readonly email: string
  /** Empty if there is none. */
  readonly name: string
}

/** `wrong`: the message is accepted, recorded as dropped and not delivered, and its sender is notified. */
export type SmtpApiReading =
  | { readonly kind: 'read'; readonly api: SmtpApi }
  | { readonly kind: 'wrong'; readonly problems: readonly SmtpApiProblem[] }

/** The reason in the dropped events of such a message. */
export const SMTPAPI_DROPPED = 'Invalid SMTPAPI header'

/** Limits of v3 contract 8.2, and of 2.3 for the corresponding members of v3. */
const MAX = {
  /** Bytes of the field; the header has the same limit. */
  field: 512 * 1024,
  recipients: 10_000,
  tags: 10_000,
  categories: 10,
  /** Bytes; only ASCII is allowed. */
  category: 255,
  /** Bytes of keys and values in total. */
  uniqueArgs: 10_000,
  groups: 25,
  text: 1000,
} as const
const HOURS_AHEAD = 72
const HOUR = 3_600_000

/** The value of the field among a message's fields; the first one counts. */
export function findSmtpApi(fields: readonly Field[]): string | undefined {
  return fields.find(({ name }) => name === 'x-smtpapi')?.value
}

/** Parses the unfolded value of the field. Never throws: any value has a result. */
export function* readSmtpApi(value: string, now: Date): Stoppable<SmtpApiReading> {
  const large = Buffer.byteLength(value) > MAX.field
  const parsed = large ? `must have at most ${MAX.field} bytes` : yield* parseField(value, parseObject)
  if (typeof parsed === 'string') return { kind: 'wrong', problems: [{ path: 'X-SMTPAPI', problem: parsed }] }
  yield
  const values = new Values()
  const api = readMembers(values, parsed, now)
  return values.problems.length > 0 ? { kind: 'wrong', problems: values.problems } : { kind: 'read', api }
}

/** The values of the tags of `sub` in the copy of recipient number `at`. A tag whose list is too short becomes empty. */
export function substitutionsOf({ sub }: SmtpApi, at: number): Readonly<Record<string, string>> {
  return Object.fromEntries([...(sub ?? [])].map(([tag, values]) => [tag, values[at] ?? '']))
}

function* parseObject(decoded: string): Stoppable<ParsedObject> {
  const text = decoded.trim()
  yield
  if (tooDeepAt(text, MAX_DEPTH) !== undefined) return `must be nested at most ${MAX_DEPTH} levels deep`
  yield
  try {
    const parsed: unknown = JSON.parse(text)
    if (typeof parsed === 'object' && parsed !== null && !Array.isArray(parsed))
      return parsed as Record<string, unknown>
  } catch {
    return 'must be valid JSON'
  }
  return 'must be a JSON object'
}

function readMembers(values: Values, object: Record<string, unknown>, now: Date): SmtpApi {
  const member = (name: string): unknown => (Object.hasOwn(object, name) ? (object[name] ?? undefined) : undefined)
  const to = values.texts('to', member('to'), MAX.recipients)?.map(recipientOf)
  const sendAt = timeOf(values, 'send_at', member('send_at'), now)
  const sendEachAt = values
    .list('send_each_at', member('send_each_at'), MAX.recipients)
    ?.map((moment, at) => timeOf(values, `send_each_at[${at}]`, moment, now))
  if (sendAt && sendEachAt) values.wrong('send_at', 'cannot be combined with send_each_at')
  if (to && sendEachAt && sendEachAt.length !== to.length) {
    values.wrong('send_each_at', 'must have one time per entry of to')
  }
  const sub = values.map('sub', member('sub'), MAX.tags, (path, list) =>
    values.list(path, list, MAX.recipients)?.map((value, at) => values.scalar(`${path}[${at}]`, value)),
  )
  const groups = values
    .list('asm_groups_to_display', member('asm_groups_to_display'), MAX.groups)
    ?.map((group, at) => values.integer(`asm_groups_to_display[${at}]`, group))
  const api = {
    to,
    sub,
    sendAt,
    sendEachAt,
    section: values.map('section', member('section'), MAX.tags, (path, text) => values.scalar(path, text)),
    ...categoriesOf(values, member('category')),
    uniqueArgs: uniqueArgsOf(values, member('unique_args')),
    filters: readFilters(values, member('filters')),
    batchId: values.text('batch_id', member('batch_id'), MAX.text),
    groupId: values.integer('asm_group_id', member('asm_group_id')),
    groupsToDisplay: groups?.length === 0 ? undefined : groups,
    ipPool: values.text('ip_pool', member('ip_pool'), MAX.text),
  }
  // Invalid members are absent. In that case the result is not used.
  return Object.fromEntries(Object.entries(api).filter(([, given]) => given !== undefined)) as unknown as SmtpApi
}

function categoriesOf(values: Values, value: unknown): { categories?: readonly string[]; categoryIsList?: boolean } {
  if (value === undefined) return {}
  const list = Array.isArray(value)
  const categories = values.texts('category', list ? value : [value], MAX.categories) ?? []
  for (const [at, category] of categories.entries()) {
    const path = list ? `category[${at}]` : 'category'
    if (!/^[\x20-\x7e]*$/.test(category)) values.wrong(path, 'must be ASCII')
    else if (category.length > MAX.category) values.wrong(path, `must have at most ${MAX.category} bytes`)
  }
  return { categories: [...new Set(categories)].filter((category) => category !== ''), categoryIsList: list }
}

function uniqueArgsOf(values: Values, value: unknown): ReadonlyMap<string, string> | undefined {
  const args = values.map('unique_args', value, MAX.tags, (path, text) => values.scalar(path, text))
  let octets = 0
  for (const [key, text] of args ?? []) octets += Buffer.byteLength(key) + Buffer.byteLength(text)
  if (octets > MAX.uniqueArgs) values.wrong('unique_args', `must have at most ${MAX.uniqueArgs} bytes`)
  return args
}

function timeOf(values: Values, path: string, value: unknown, now: Date): Date | undefined {
  const seconds = values.integer(path, value)
  if (seconds === undefined) return undefined
  if (seconds * 1000 > now.getTime() + HOURS_AHEAD * HOUR) {
    values.wrong(path, `must be at most ${HOURS_AHEAD} hours ahead`)
    return undefined
  }
  return new Date(Math.max(seconds * 1000, 0))
}

/** `Name <addr>`, `"Name, I." <addr>` or an address alone. Anything else is left unchanged, and accept rejects it as an address. */
function recipientOf(text: string): SmtpApiRecipient {
  const trimmed = text.trim()
  const open = trimmed.endsWith('>') ? trimmed.lastIndexOf('<') : -1
  if (open === -1) return { email: trimmed, name: '' }
  const name = decodeWords(trimmed.slice(0, open).trim())
  const bare = /^".*"$/s.test(name) ? name.slice(1, -1).replace(/\\(.)/gs, '$1') : name
  // The name is written into a header field (V20).
  return { email: trimmed.slice(open + 1, -1).trim(), name: bare.replace(/[\p{Cc}\u2028\u2029]+/gu, ' ').trim() }
}
