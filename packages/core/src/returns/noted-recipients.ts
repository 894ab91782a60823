import { readHeader } from '../mime/read-leaves.ts'

/** Header fields in which servers note the recipients of a message that they deliver; those of the last server first. */
const FIELDS = ['delivered-to', 'x-original-to', 'x-envelope-to', 'envelope-to', 'to'] as const
const MAX_RECIPIENTS = 50

/** Returns the addresses in these fields of a message's header, unverified. */
export function notedRecipients(raw: Buffer): string[] {
  const fields = readHeader(raw)
  return FIELDS.flatMap((name) => fields.all(name))
    .flatMap((value) => value.split(/[\s,;<>]/))
    .filter((word) => word.includes('@'))
    .slice(0, MAX_RECIPIENTS)
}
