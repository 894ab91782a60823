import { decodeWords, decodeWordsInPieces, type Stoppable } from '@postrider/core'
import type { Field } from './header.ts'
import { DEEPEST, isTooDeep } from './json-depth.ts'
import { type Filters, readFilters } from './smtpapi-filters.ts'
import { type SmtpApiProblem, Values } from './smtpapi-values.ts'

/*
 * X-SMTPAPI (v3 contract 8.2): one header field holding a JSON object, by which clients of the mirrored service steer a message
 * sent by SMTP. Here it is only read, into what it says and no more; nothing is looked up and nothing is refused.
 */

/** What the field says. Absent members were not said. */
export interface SmtpApi {
  /**
   * Takes the place of the RCPT recipients; each gets a copy with itself alone in To: one Submission.envelopes element each, with
   * `to: [email]`. Addresses are as written: accept judges them as any other.
   */
  readonly to?: readonly SmtpApiRecipient[]
  /**
   * Tag → one value for each of `to`, or of the RCPT recipients, by index; see {@link substitutionsOf}. For
   * core's createSubstituter, over Subject, Reply-To and every text part.
   */
  readonly sub?: ReadonlyMap<string, readonly string[]>
  /** Tag → text, for values of `sub` that name it: createSubstituter's sections. */
  readonly section?: ReadonlyMap<string, string>
  /** Submission.tags, each once; an event of the message shows them in the shape they came in. */
  readonly categories?: readonly string[]
  readonly categoryIsList?: boolean
  /** v3's custom_args: in every event of the message. Substitution tags in values are to be resolved; reserved event keys lose. */
  readonly uniqueArgs?: ReadonlyMap<string, string>
  /** Settings of single features under their old names; each says what it maps to. */
  readonly filters: Filters
  /** Submission.scheduledAt. What has passed means at once. */
  readonly sendAt?: Date
  /** The same for each recipient, by index. */
  readonly sendEachAt?: readonly Date[]
  /** v3's batch_id. */
  readonly batchId?: string
  /** MessageSettings.group, once the account's group is found. */
  readonly groupId?: number
  /** v3's asm.groups_to_display. Absent for an empty list too: all groups. */
  readonly groupsToDisplay?: readonly number[]
  /** v3's ip_pool_name. */
  readonly ipPool?: string
}

export interface SmtpApiRecipient {
  readonly email: string
  /** Empty: none. */
  readonly name: string
}

/** `wrong`: the message is accepted, not delivered, recorded as dropped, and its sender told. */
export type SmtpApiReading =
  | { readonly kind: 'read'; readonly api: SmtpApi }
  | { readonly kind: 'wrong'; readonly problems: readonly SmtpApiProblem[] }

/** The reason every dropped event of such a message has. */
export const SMTPAPI_DROPPED = 'Invalid SMTPAPI header'

/** v3 contract 8.2, and 2.3 for what the same thing is called in v3. */
const MOST = {
  /** Octets of the field; a header has no more. */
  field: 512 * 1024,
  recipients: 10_000,
  tags: 10_000,
  categories: 10,
  /** Octets; letters are ASCII. */
  category: 255,
  /** Octets of keys and values together. */
  uniqueArgs: 10_000,
  groups: 25,
  text: 1000,
} as const
const HOURS_AHEAD = 72
const HOUR = 3_600_000

/** The value of the field among a message's fields; the first one counts. */
export function smtpApiOf(fields: readonly Field[]): string | undefined {
  return fields.find(({ name }) => name === 'x-smtpapi')?.value
}

/** Reads the field's value, unfolded. Never throws: everything the value can be is an answer. */
export function* readSmtpApi(value: string, now: Date): Stoppable<SmtpApiReading> {
  const parsed = yield* parseObject(value)
  if (typeof parsed === 'string') return { kind: 'wrong', problems: [{ path: 'X-SMTPAPI', problem: parsed }] }
  yield
  const values = new Values()
  const api = readMembers(values, parsed, now)
  return values.problems.length > 0 ? { kind: 'wrong', problems: values.problems } : { kind: 'read', api }
}

/** What goes in for the tags of `sub` in the copy of recipient number `at`; a tag whose list is too short becomes empty. */
export function substitutionsOf({ sub }: SmtpApi, at: number): Readonly<Record<string, string>> {
  return Object.fromEntries([...(sub ?? [])].map(([tag, values]) => [tag, values[at] ?? '']))
}

/** The object, or what is wrong. */
function* parseObject(value: string): Stoppable<Record<string, unknown> | string> {
  if (Buffer.byteLength(value) > MOST.field) return `must have at most ${MOST.field} octets`
  const text = (yield* decodeWordsInPieces(value)).trim()
  yield
  if (isTooDeep(text)) return `must be nested at most ${DEEPEST} deep`
  yield
  try {
    const parsed: unknown = JSON.parse(text)
    if (typeof parsed === 'object' && parsed !== null && !Array.isArray(parsed))
      return parsed as Record<string, unknown>
  } catch {
    return 'must be JSON'
  }
  return 'must be a JSON object'
}

function readMembers(values: Values, object: Record<string, unknown>, now: Date): SmtpApi {
  const member = (name: string): unknown => (Object.hasOwn(object, name) ? (object[name] ?? undefined) : undefined)
  const to = values.texts('to', member('to'), MOST.recipients)?.map(recipientOf)
  const sendAt = momentOf(values, 'send_at', member('send_at'), now)
  const sendEachAt = values
    .list('send_each_at', member('send_each_at'), MOST.recipients)
    ?.map((moment, at) => momentOf(values, `send_each_at[${at}]`, moment, now))
  if (sendAt && sendEachAt) values.wrong('send_at', 'cannot be combined with send_each_at')
  if (to && sendEachAt && sendEachAt.length !== to.length) {
    values.wrong('send_each_at', 'must have one time per entry of to')
  }
  const sub = values.map('sub', member('sub'), MOST.tags, (path, list) =>
    values.list(path, list, MOST.recipients)?.map((value, at) => values.scalar(`${path}[${at}]`, value)),
  )
  const groups = values
    .list('asm_groups_to_display', member('asm_groups_to_display'), MOST.groups)
    ?.map((group, at) => values.integer(`asm_groups_to_display[${at}]`, group))
  const api = {
    ...{ to, sub, sendAt, sendEachAt },
    section: values.map('section', member('section'), MOST.tags, (path, text) => values.scalar(path, text)),
    ...categoriesOf(values, member('category')),
    uniqueArgs: uniqueArgsOf(values, member('unique_args')),
    filters: readFilters(values, member('filters')),
    batchId: values.text('batch_id', member('batch_id'), MOST.text),
    groupId: values.integer('asm_group_id', member('asm_group_id')),
    groupsToDisplay: groups?.length === 0 ? undefined : groups,
    ipPool: values.text('ip_pool', member('ip_pool'), MOST.text),
  }
  // Where something was wrong there are gaps; then nobody gets it.
  return Object.fromEntries(Object.entries(api).filter(([, said]) => said !== undefined)) as unknown as SmtpApi
}

function categoriesOf(values: Values, value: unknown): { categories?: readonly string[]; categoryIsList?: boolean } {
  if (value === undefined) return {}
  const list = Array.isArray(value)
  const categories = values.texts('category', list ? value : [value], MOST.categories) ?? []
  for (const [at, category] of categories.entries()) {
    const path = list ? `category[${at}]` : 'category'
    if (!/^[\x20-\x7e]*$/.test(category)) values.wrong(path, 'must be ASCII')
    else if (category.length > MOST.category) values.wrong(path, `must have at most ${MOST.category} octets`)
  }
  return { categories: [...new Set(categories)].filter((category) => category !== ''), categoryIsList: list }
}

function uniqueArgsOf(values: Values, value: unknown): ReadonlyMap<string, string> | undefined {
  const args = values.map('unique_args', value, MOST.tags, (path, text) => values.scalar(path, text))
  let octets = 0
  for (const [key, text] of args ?? []) octets += Buffer.byteLength(key) + Buffer.byteLength(text)
  if (octets > MOST.uniqueArgs) values.wrong('unique_args', `must have at most ${MOST.uniqueArgs} octets`)
  return args
}

function momentOf(values: Values, path: string, value: unknown, now: Date): Date | undefined {
  const seconds = values.integer(path, value)
  if (seconds === undefined) return undefined
  if (seconds * 1000 > now.getTime() + HOURS_AHEAD * HOUR) {
    values.wrong(path, `must be at most ${HOURS_AHEAD} hours ahead`)
    return undefined
  }
  return new Date(Math.max(seconds * 1000, 0))
}

/** `Name <addr>`, `"Name, I." <addr>` or an address alone. What is neither is left as it is: accept says it is no address. */
function recipientOf(text: string): SmtpApiRecipient {
  const trimmed = text.trim()
  const open = trimmed.endsWith('>') ? trimmed.lastIndexOf('<') : -1
  if (open === -1) return { email: trimmed, name: '' }
  const name = decodeWords(trimmed.slice(0, open).trim())
  const bare = /^".*"$/s.test(name) ? name.slice(1, -1).replace(/\\(.)/gs, '$1') : name
  // A name goes into a header field (V20).
  return { email: trimmed.slice(open + 1, -1).trim(), name: bare.replace(/[\p{Cc}\u2028\u2029]+/gu, ' ').trim() }
}
