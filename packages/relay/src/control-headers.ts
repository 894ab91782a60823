import {
  decodeWordsInPieces,
  invalidParameter,
  type MessageSettings,
  parseAddress,
  type Stoppable,
} from '@postrider/core'
import { FIELDS, type Field } from './header.ts'
import { isTooDeep } from './json-depth.ts'

/**
 * Header fields by which a client steers the service (v2 contract section 17). Matched whatever their case, and removed before
 * delivery.
 */
const CONTROL_FIELDS = new Set([
  'x-apiheader',
  'x-tags',
  'x-settings',
  'x-templateid',
  'x-attributes',
  'x-footer',
  'x-unsubscribe',
  'x-clicktrack',
  'x-opentrack',
  'idempotency-key',
  // Read by smtpapi.ts; of several the first counts.
  'x-smtpapi',
])
/** Characters of a control field that is text; fifty tags of 255 letters, encoded, have as many. */
const LONGEST_TEXT = 64 * 1024
const OBJECT = /^\s*\{/
/** Attributes that are gone through before others may have a turn. */
const ATTRIBUTES = 1000
/** Removed as well, as every submission server does: what must not reach the recipients, or what the last hop writes itself. */
const DROPPED_FIELDS = new Set(['bcc', 'resent-bcc', 'return-path', 'content-length'])

export interface Controls {
  readonly reference: string | undefined
  readonly tags: readonly string[]
  readonly settings: MessageSettings
  /** Blind copies on top of the envelope (settings.bcc). */
  readonly bcc: readonly string[]
  readonly templateId: number | undefined
  readonly attributes: Readonly<Record<string, string>>
  readonly idempotencyKey: string | undefined
}

const UNSTEERED: Controls = {
  reference: undefined,
  tags: [],
  settings: {},
  bcc: [],
  templateId: undefined,
  attributes: {},
  idempotencyKey: undefined,
}

export function isRemoved({ name }: Field): boolean {
  return CONTROL_FIELDS.has(name) || DROPPED_FIELDS.has(name)
}

/** Reads the control fields; the last of several counts. Throws parameterInvalid, naming the field. */
export function* readControls(fields: readonly Field[]): Stoppable<Controls> {
  const last = new Map<string, Field>()
  for (const [at, field] of fields.entries()) {
    if (CONTROL_FIELDS.has(field.name)) last.set(field.name, field)
    if (at % FIELDS === FIELDS - 1) yield
  }
  // As most mail is: to ask for each of them in pieces took a tenth of a session's time.
  if (last.size === 0) return UNSTEERED
  // Mail libraries write anything but ASCII as encoded words (RFC 2047).
  const decoded = (name: string): Stoppable<string> => decodeWordsInPieces(last.get(name)?.value ?? '')
  const text = function* (name: string): Stoppable<string | undefined> {
    if ((last.get(name)?.value.length ?? 0) > LONGEST_TEXT) {
      throw invalidParameter(name.toUpperCase(), `must have at most ${LONGEST_TEXT} characters`)
    }
    const value = unquoted(yield* decoded(name))
    return value === '' ? undefined : value
  }
  const settings = yield* jsonObject(yield* decoded('x-settings'), 'X-SETTINGS')
  const flag = function* (field: string, setting: string): Stoppable<boolean | undefined> {
    const value = (yield* text(field)) ?? settings[setting]
    return flagOf(value, last.has(field) ? field.toUpperCase() : `X-SETTINGS.${setting}`)
  }
  const flags = {
    footer: yield* flag('x-footer', 'footer'),
    clickTracking: yield* flag('x-clicktrack', 'clicktrack'),
    openTracking: yield* flag('x-opentrack', 'opentrack'),
    unsubscribe: yield* flag('x-unsubscribe', 'unsubscribe'),
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
    attributes: yield* attributesOf(yield* jsonObject(yield* decoded('x-attributes'), 'X-ATTRIBUTES')),
    idempotencyKey: last.get('idempotency-key')?.value,
  }
}

/** Samples end values with `;` and put them in quotes; one of each is taken off. */
function unquoted(value: string): string {
  const bare = value.replace(/;\s*$/, '').trim()
  return /^".*"$/.test(bare) ? bare.slice(1, -1).trim() : bare
}

/** What can be no object is not parsed: 480 kB of brackets took 24 ms. */
function* jsonObject(text: string, parameter: string): Stoppable<Record<string, unknown>> {
  if (text === '') return {}
  yield
  try {
    const parsable = OBJECT.test(text) && !isTooDeep(text)
    yield
    const value: unknown = parsable && JSON.parse(text.replace(/;\s*$/, ''))
    yield
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Record<string, unknown>
  } catch {
    // Said below, in the same words.
  }
  throw invalidParameter(parameter, 'must be a JSON object')
}

function flagOf(value: unknown, parameter: string): boolean | undefined {
  if (value === undefined || value === null || value === '') return undefined
  const text = typeof value === 'object' ? '' : String(value).toLowerCase()
  if (text === '1' || text === 'true') return true
  if (text === '0' || text === 'false') return false
  throw invalidParameter(parameter, 'must be 0 or 1')
}

/** As v2 takes it: one address, several between commas, or a list. */
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

/** In place: to make an object of fifty thousand members takes as long as to parse them. */
function* attributesOf(values: Record<string, unknown>): Stoppable<Record<string, string>> {
  for (const [at, name] of Object.keys(values).entries()) {
    const value = values[name]
    if (typeof value === 'object' && value !== null)
      throw invalidParameter('X-ATTRIBUTES', `${name} must be text or a number`)
    if (typeof value !== 'string') values[name] = value === null ? '' : String(value)
    if (at % ATTRIBUTES === ATTRIBUTES - 1) yield
  }
  return values as Record<string, string>
}
