import { decodeWords, invalidParameter, type MessageSettings, parseAddress } from '@postrider/core'
import type { Field } from './header.ts'

/**
 * Header fields by which a client steers the service (contract section 17). Matched whatever their case, and removed before
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

export function isRemoved({ name }: Field): boolean {
  return CONTROL_FIELDS.has(name) || DROPPED_FIELDS.has(name)
}

/** Reads the control fields; the last of several counts. Throws parameterInvalid, naming the field. */
export function readControls(fields: readonly Field[]): Controls {
  const values = new Map(fields.filter(({ name }) => CONTROL_FIELDS.has(name)).map(({ name, value }) => [name, value]))
  // Mail libraries write anything but ASCII as encoded words (RFC 2047).
  const decoded = (name: string): string => decodeWords(values.get(name) ?? '')
  const text = (name: string): string | undefined => {
    if ((values.get(name)?.length ?? 0) > LONGEST_TEXT) {
      throw invalidParameter(name.toUpperCase(), `it must have at most ${LONGEST_TEXT} characters`)
    }
    const value = unquoted(decoded(name))
    return value === '' ? undefined : value
  }
  const settings = jsonObject(decoded('x-settings'), 'X-SETTINGS')
  const flag = (field: string, setting: string): boolean | undefined =>
    flagOf(text(field) ?? settings[setting], values.has(field) ? field.toUpperCase() : `X-SETTINGS.${setting}`)
  const flags = {
    footer: flag('x-footer', 'footer'),
    clickTracking: flag('x-clicktrack', 'clicktrack'),
    openTracking: flag('x-opentrack', 'opentrack'),
    unsubscribe: flag('x-unsubscribe', 'unsubscribe'),
  }
  return {
    reference: text('x-apiheader'),
    tags: (text('x-tags') ?? '')
      .split(',')
      .map((tag) => tag.trim())
      .filter((tag) => tag !== ''),
    settings: Object.fromEntries(Object.entries(flags).filter(([, value]) => value !== undefined)),
    bcc: bccOf(settings.bcc),
    templateId: templateIdOf(text('x-templateid')),
    attributes: attributesOf(jsonObject(decoded('x-attributes'), 'X-ATTRIBUTES')),
    idempotencyKey: values.get('idempotency-key'),
  }
}

/** Samples end values with `;` and put them in quotes; one of each is taken off. */
function unquoted(value: string): string {
  const bare = value.replace(/;\s*$/, '').trim()
  return /^".*"$/.test(bare) ? bare.slice(1, -1).trim() : bare
}

function jsonObject(text: string, parameter: string): Record<string, unknown> {
  if (text === '') return {}
  try {
    const value: unknown = JSON.parse(text.replace(/;\s*$/, ''))
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Record<string, unknown>
  } catch {
    // Said below, in the same words.
  }
  throw invalidParameter(parameter, 'it must be a JSON object')
}

function flagOf(value: unknown, parameter: string): boolean | undefined {
  if (value === undefined || value === null || value === '') return undefined
  const text = typeof value === 'object' ? '' : String(value).toLowerCase()
  if (text === '1' || text === 'true') return true
  if (text === '0' || text === 'false') return false
  throw invalidParameter(parameter, 'it must be 0 or 1')
}

/** As v2 takes it: one address, several between commas, or a list. */
function bccOf(value: unknown): string[] {
  if (value === undefined || value === null) return []
  const list = typeof value === 'string' ? (parseAddress(value) ? [value] : value.split(',')) : value
  if (!Array.isArray(list) || list.some((address) => typeof address !== 'string')) {
    throw invalidParameter('X-SETTINGS.bcc', 'it must be an email address')
  }
  return (list as string[]).filter((address) => address.trim() !== '')
}

function templateIdOf(text: string | undefined): number | undefined {
  if (text === undefined || text === '0') return undefined
  if (!/^\d+$/.test(text)) throw invalidParameter('X-TEMPLATEID', 'it must be a number')
  return Number(text)
}

function attributesOf(values: Record<string, unknown>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(values).map(([name, value]) => {
      if (typeof value === 'object' && value !== null)
        throw invalidParameter('X-ATTRIBUTES', `${name} must be text or a number`)
      return [name, value === null ? '' : String(value)]
    }),
  )
}
