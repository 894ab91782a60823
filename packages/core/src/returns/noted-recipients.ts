import { readHeader } from '../mime/read-leaves.ts'
import { addressIn } from './read/address-in.ts'

/** Header fields in which servers note the recipients of a message that they deliver; those of the last server first. */
const FIELDS = ['delivered-to', 'x-original-to', 'x-envelope-to', 'envelope-to', 'to'] as const
const MAX_RECIPIENTS = 50
const MAX_PATH = 1000

/** Returns the address in Return-Path, unverified; empty for the null sender, null if there is no such field. */
export function notedSender(raw: Buffer): string | null {
  const field = readHeader(raw).get('return-path')?.trim()
  if (field === undefined) return null
  return field === '<>' ? '' : (addressIn(field.slice(0, MAX_PATH)) ?? null)
}

/** Returns the addresses in these fields of a message's header, unverified. */
export function notedRecipients(raw: Buffer): string[] {
  const fields = readHeader(raw)
  return FIELDS.flatMap((name) => fields.all(name))
    .flatMap((value) => value.split(/[\s,;<>]/))
    .filter((word) => word.includes('@'))
    .slice(0, MAX_RECIPIENTS)
}
