import { decodeText } from '../../mime/decode-text.ts'
import type { HeaderFields } from '../../mime/header-fields.ts'
import { headerFields } from '../../mime/header-fields.ts'
import type { Leaf } from '../../mime/read-leaves.ts'
import { decodeWords } from '../../mime/words.ts'
import { addressIn } from './address-in.ts'
import { ACTIONS, type Action } from './return-reading.ts'
import { stageIn } from './smtp-reply.ts'
import type { RecipientStatus } from './verdict.ts'

/** RFC 3464, RFC 6533; the first one also under names that servers made up. */
const STATUS_TYPE = /^message\/(x-)?(global-)?delivery-status$/
const MAX_OCTETS = 64 * 1024
/** Recipients per report: a message of this service has one, which a server may replace by several. */
export const MAX_RECIPIENTS = 20

export function isDeliveryStatus({ type }: Leaf): boolean {
  return STATUS_TYPE.test(type)
}

/** Reads the recipients of a delivery status part (RFC 3464 2.3). Empty if the part has none. */
export function readDeliveryStatus(leaf: Leaf): RecipientStatus[] {
  return statusesIn(leaf.octets(MAX_OCTETS))
}

/**
 * Reads recipients from groups of fields. Lenient: a group is whatever names a recipient or a result, so the group of the whole
 * message may be absent, and a group divided by an empty line is joined.
 */
export function statusesIn(octets: Buffer): RecipientStatus[] {
  const statuses: RecipientStatus[] = []
  let group: HeaderFields | undefined
  const finish = () => {
    const recipientStatus = group && statusOf(group)
    if (recipientStatus && statuses.length < MAX_RECIPIENTS) statuses.push(recipientStatus)
    group = undefined
  }
  for (const fields of groupsIn(octets)) {
    const names = recipientOf(fields) !== undefined
    if (group && !names && recipientOf(group) !== undefined && isResult(fields) && !isResult(group)) {
      for (const name of RESULT) for (const value of fields.all(name)) group.add(name, value)
      continue
    }
    finish()
    group = fields
  }
  finish()
  return statuses
}

const RESULT = ['action', 'status', 'diagnostic-code'] as const

function isResult(fields: HeaderFields): boolean {
  return RESULT.some((name) => fields.get(name) !== undefined)
}

function* groupsIn(octets: Buffer): Generator<HeaderFields> {
  const text = octets.toString('latin1').replaceAll('\r\n', '\n')
  for (let at = 0; at < text.length; ) {
    const end = text.indexOf('\n\n', at)
    const group = text.slice(at, end === -1 ? text.length : end)
    if (group.includes(':')) yield headerFields(Buffer.from(group, 'latin1'))
    at = end === -1 ? text.length : end + 2
  }
}

function statusOf(fields: HeaderFields): RecipientStatus | undefined {
  const recipient = recipientOf(fields)
  if (recipient === undefined && !(fields.get('action') && fields.get('status'))) return undefined
  const status = /^[245]\.\d{1,3}\.\d{1,3}\b/.exec(fields.get('status') ?? '')?.[0] ?? ''
  const text = decoded(withoutType(fields.get('diagnostic-code') ?? '') || commentOf(fields.get('status') ?? ''))
  const action = actionOf(fields.get('action'), status)
  return { recipient: recipient ?? '', action, status, text, stage: stageIn(text) }
}

/** `Original-Recipient` is what the sender wrote; `Final-Recipient` may be an address that the recipient forwards to. */
function recipientOf(fields: HeaderFields): string | undefined {
  for (const name of ['original-recipient', 'final-recipient', 'x-actual-recipient']) {
    const value = fields.get(name)
    if (value === undefined) continue
    const found = addressIn(fromUtf8Address(withoutType(value)))
    if (found) return found
  }
  return fields.get('final-recipient') === undefined ? undefined : ''
}

/** A reply in Japanese may be in ISO-2022-JP, and one in other languages in encoded words (RFC 2047), although neither is allowed here. */
function decoded(text: string): string {
  return decodeWords(text.includes('\x1b') ? decodeText(Buffer.from(text, 'latin1'), '') : text)
}

/** Removes `rfc822;` or `smtp;`, the type of an address or diagnostic. */
function withoutType(value: string): string {
  const semicolon = value.indexOf(';')
  if (semicolon === -1) return value
  return /^[ \t]*[\w.-]{1,40}[ \t]*$/.test(value.slice(0, semicolon)) ? value.slice(semicolon + 1).trim() : value
}

const EMBEDDED_CHARACTER = /\\x\{([0-9A-Fa-f]{1,6})\}/g

/** RFC 6533 3: characters outside ASCII may be written as `\x{…}`. */
function fromUtf8Address(value: string): string {
  return decodeWords(value).replace(EMBEDDED_CHARACTER, (written, hex: string) => {
    const point = Number.parseInt(hex, 16)
    return point <= 0x10ffff ? String.fromCodePoint(point) : written
  })
}

/** `5.4.4 (Illegal host name)`: the comment, without the parentheses. */
function commentOf(status: string): string {
  const open = status.indexOf('(')
  return open === -1 ? '' : status.slice(open + 1).replace(/\)$/, '')
}

function actionOf(written: string | undefined, status: string): Action {
  const word = /^[a-z]{1,20}/.exec((written ?? '').toLowerCase())?.[0]
  const known = ACTIONS.find((action) => action === word)
  return known ?? (status.startsWith('2') ? 'delivered' : 'failed')
}
