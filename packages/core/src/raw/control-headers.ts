import { parseAddress } from '../mime/address.ts'
import { decodeWordsInPieces } from '../mime/words.ts'
import type { Stoppable } from '../platform/concurrency/turns.ts'
import { invalidParameter } from '../platform/errors.ts'
import { tooDeepAt } from '../platform/json-depth.ts'
import { metadataOf } from '../submission/metadata.ts'
import { readDeadline } from '../submission/read-deadline.ts'
import type { MessageSettings } from '../submission/submission.ts'
import { FIELDS, type Field } from './header.ts'
import { MAX_DEPTH, type ParsedObject, parseField } from './json-field.ts'

/** Header fields that control the service (v2 contract section 17). Names are case-insensitive; the fields are removed before delivery. */
const CONTROL_FIELDS = new Set([
  'x-apiheader',
  'x-tags',
  'x-settings',
  'x-templateid',
  'x-attributes',
  'x-metadata',
  'x-footer',
  'x-unsubscribe',
  'x-clicktrack',
  'x-opentrack',
  'idempotency-key',
  'x-pr-class',
  'x-pr-deadline',
  'x-pr-tls',
  'x-pr-keep-content',
  'x-pr-traceparent',
  // Read by smtpapi.ts; if there are several, the first one counts.
  'x-smtpapi',
])
/** Maximum characters of a text control field; fifty encoded tags of 255 letters have that many. */
const MAX_TEXT_LENGTH = 64 * 1024
const OBJECT = /^\s*\{/
/** Attributes processed before other sessions get a slot. */
const ATTRIBUTES_PER_SLICE = 1000
/** Also removed, as every submission server does: fields that recipients must not see, or that the last hop adds. */
const DROPPED_FIELDS = new Set(['bcc', 'resent-bcc', 'return-path', 'content-length'])

export interface Controls {
  readonly reference: string | undefined
  readonly tags: readonly string[]
  readonly settings: MessageSettings
  /** Blind copies in addition to the envelope's recipients (settings.bcc). */
  readonly bcc: readonly string[]
  readonly templateId: number | undefined
  readonly attributes: Readonly<Record<string, string>>
  /** Names and values that come back in events. */
  readonly metadata: Readonly<Record<string, string>> | undefined
  readonly idempotencyKey: string | undefined
  /** `accept` ignores one that is not valid. */
  readonly traceParent: string | undefined
}

const NO_CONTROLS: Controls = {
  reference: undefined,
  tags: [],
  settings: {},
  bcc: [],
  templateId: undefined,
  attributes: {},
  metadata: undefined,
  idempotencyKey: undefined,
  traceParent: undefined,
}

const REMOVED_FIELDS = new Set([...CONTROL_FIELDS, ...DROPPED_FIELDS])

export function isRemoved({ name }: Field): boolean {
  return REMOVED_FIELDS.has(name)
}

/** Reads the control fields; the last of several fields of one name counts. Throws parameterInvalid, naming the field. */
export function* readControls(fields: readonly Field[]): Stoppable<Controls> {
  // The usual case: reading each absent field in slices took a tenth of a session's time.
  if (fields.length === 0) return NO_CONTROLS
  const last = new Map<string, Field>()
  for (const [at, field] of fields.entries()) {
    if (CONTROL_FIELDS.has(field.name)) last.set(field.name, field)
    if (at % FIELDS === FIELDS - 1) yield
  }
  if (last.size === 0) return NO_CONTROLS
  // Mail libraries write non-ASCII text as encoded words (RFC 2047).
  const decoded = (name: string): Stoppable<string> => decodeWordsInPieces(last.get(name)?.value ?? '')
  const text = function* (name: string): Stoppable<string | undefined> {
    if ((last.get(name)?.value.length ?? 0) > MAX_TEXT_LENGTH) {
      throw invalidParameter(name.toUpperCase(), `must have at most ${MAX_TEXT_LENGTH} characters`)
    }
    const value = unquoted(yield* decoded(name))
    return value === '' ? undefined : value
  }
  const settings = yield* jsonObject(last.get('x-settings'), 'X-SETTINGS')
  const flag = function* (field: string, setting: string): Stoppable<boolean | undefined> {
    const value = (yield* text(field)) ?? settings[setting]
    return flagOf(value, last.has(field) ? field.toUpperCase() : `X-SETTINGS.${setting}`)
  }
  const flags = {
    footer: yield* flag('x-footer', 'footer'),
    clickTracking: yield* flag('x-clicktrack', 'clicktrack'),
    openTracking: yield* flag('x-opentrack', 'opentrack'),
    unsubscribe: yield* flag('x-unsubscribe', 'unsubscribe'),
    keepContent: yield* flag('x-pr-keep-content', 'keepContent'),
    class: (yield* text('x-pr-class'))?.toLowerCase(),
    deadline: readDeadline(yield* text('x-pr-deadline')),
    tls: (yield* text('x-pr-tls'))?.toLowerCase(),
  }
  return {
    reference: yield* text('x-apiheader'),
    tags: ((yield* text('x-tags')) ?? '')
      .split(',')
      .map((tag) => tag.trim())
      .filter((tag) => tag !== ''),
    settings: Object.fromEntries(Object.entries(flags).filter(([, value]) => value !== undefined)),
    bcc: bccOf(settings.bcc),
    templateId: templateIdOf(yield* text('x-templateid')),
    attributes: yield* textsOf(yield* jsonObject(last.get('x-attributes'), 'X-ATTRIBUTES'), 'X-ATTRIBUTES'),
    metadata: metadataOf(
      yield* textsOf(yield* jsonObject(last.get('x-metadata'), 'X-METADATA'), 'X-METADATA'),
      'X-METADATA',
    ),
    idempotencyKey: last.get('idempotency-key')?.value,
    traceParent: last.get('x-pr-traceparent')?.value,
  }
}

/** Removes one final `;` and one pair of quotes, which the contract's samples have. */
function unquoted(value: string): string {
  const bare = value.replace(/;\s*$/, '').trim()
  return /^".*"$/.test(bare) ? bare.slice(1, -1).trim() : bare
}

function* jsonObject(field: Field | undefined, parameter: string): Stoppable<Record<string, unknown>> {
  const parsed = yield* parseField(field?.value ?? '', parseObject)
  if (typeof parsed === 'string') throw invalidParameter(parameter, parsed)
  return parsed
}

/** Text that cannot be an object is not parsed: 480 kB of brackets took 24 ms. */
function* parseObject(text: string): Stoppable<ParsedObject> {
  if (text === '') return {}
  yield
  try {
    const parsable = OBJECT.test(text) && tooDeepAt(text, MAX_DEPTH) === undefined
    yield
    const value: unknown = parsable && JSON.parse(text.replace(/;\s*$/, ''))
    yield
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Record<string, unknown>
  } catch {
    // Reported below.
  }
  return 'must be a JSON object'
}

function flagOf(value: unknown, parameter: string): boolean | undefined {
  if (value === undefined || value === null || value === '') return undefined
  const text = typeof value === 'object' ? '' : String(value).toLowerCase()
  if (text === '1' || text === 'true') return true
  if (text === '0' || text === 'false') return false
  throw invalidParameter(parameter, 'must be 0 or 1')
}

/** As in v2: one address, several separated by commas, or a list. */
function bccOf(value: unknown): string[] {
  if (value === undefined || value === null) return []
  const list = typeof value === 'string' ? (parseAddress(value) ? [value] : value.split(',')) : value
  if (!Array.isArray(list) || list.some((address) => typeof address !== 'string')) {
    throw invalidParameter('X-SETTINGS.bcc', 'must be an email address')
  }
  return (list as string[]).filter((address) => address.trim() !== '')
}

function templateIdOf(text: string | undefined): number | undefined {
  if (text === undefined || text === '0') return undefined
  if (!/^\d+$/.test(text)) throw invalidParameter('X-TEMPLATEID', 'must be a number')
  return Number(text)
}

/** Converts in place: creating a second object of fifty thousand members takes as long as parsing it. */
function* textsOf(values: Record<string, unknown>, parameter: string): Stoppable<Record<string, string>> {
  for (const [at, name] of Object.keys(values).entries()) {
    const value = values[name]
    if (typeof value === 'object' && value !== null)
      throw invalidParameter(parameter, `${name} must be text or a number`)
    if (typeof value !== 'string') values[name] = value === null ? '' : String(value)
    if (at % ATTRIBUTES_PER_SLICE === ATTRIBUTES_PER_SLICE - 1) yield
  }
  return values as Record<string, string>
}
