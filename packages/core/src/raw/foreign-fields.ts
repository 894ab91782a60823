import { atOnce, inTurns } from '../platform/concurrency/turns.ts'
import { identityRuleOf, isResentField } from '../submission/identity-fields.ts'
import { isRemoved } from './control-headers.ts'
import { type Field, hasShortHeader, splitHeader, withoutFields } from './header.ts'
import type { Head } from './read-header.ts'

/** Returns those of the fields that must not stay. */
export type FindForeign = (fields: readonly Field[]) => Promise<readonly Field[]>

/** Returns whether each of the DKIM signatures of a message verifies. */
export type VerifySignatures = (pieces: readonly Buffer[], signatures: readonly string[]) => Promise<readonly boolean[]>

/** Names of removed fields in the reply. */
const MAX_NAMES = 5

/** Fields in another's name do not stay (decision 45). Nearly no message has fields for which there is something to wait. */
export function withoutForeign(head: Head, findForeign: FindForeign): Head | Promise<Head> {
  const named = head.fields.filter(({ name }) => isResentField(name) || isNaming(name))
  return named.length === 0 ? head : withoutFound(head, findForeign(named))
}

/** Signatures are verified once the message is as it will be. */
function isNaming(name: string): boolean {
  const rule = identityRuleOf(name)
  return rule !== undefined && rule !== 'verified'
}

async function withoutFound(head: Head, search: Promise<readonly Field[]>): Promise<Head> {
  const foreign = new Set(await search)
  if (foreign.size === 0) return head
  const removed = head.fields.filter((field) => foreign.has(field) || isRemoved(field))
  const kept = await inTurns(withoutFields(head.first, removed))
  return { ...head, kept, corrections: [...head.corrections, ...wordsOf(head, [...foreign])] }
}

function wordsOf({ text }: Head, foreign: readonly Field[]): string[] {
  const isOfSender = ({ name }: Field): boolean => isResentField(name) || identityRuleOf(name) === 'own'
  const removed = (fields: readonly Field[], why: string): string[] => {
    const names = [...new Set(fields.map(({ name, start }) => text.slice(start, start + name.length)))]
    if (names.length === 0) return []
    const are = names.length === 1 ? 'was' : 'were'
    return [`${names.slice(0, MAX_NAMES).join(', ')} ${are} removed, since ${why}`]
  }
  return [
    ...removed(foreign.filter(isOfSender), 'the account may not send as that address'),
    ...removed(
      foreign.filter((field) => !isOfSender(field)),
      'only a receiver writes that',
    ),
  ]
}

/** A message as it will be delivered. */
export interface KeptMessage {
  readonly pieces: readonly Buffer[]
  /** In words. */
  readonly corrections: readonly string[]
}

/** The message without DKIM signatures that do not verify. */
export async function withVerifiedSignatures(message: KeptMessage, verify: VerifySignatures): Promise<KeptMessage> {
  const { pieces, corrections } = message
  const [first, ...others] = pieces as readonly [Buffer, ...Buffer[]]
  const reading = splitHeader(first)
  const { fields } = hasShortHeader(first) ? atOnce(reading) : await inTurns(reading)
  const signatures = fields.filter(({ name }) => identityRuleOf(name) === 'verified')
  if (signatures.length === 0) return message
  const areVerified = await verify(
    pieces,
    signatures.map(({ value }) => value),
  )
  const wrong = signatures.filter((_, at) => !areVerified[at])
  if (wrong.length === 0) return message
  const kept = await inTurns(withoutFields(first, wrong))
  const corrected =
    wrong.length === 1
      ? 'a DKIM signature that does not verify was removed'
      : `${wrong.length} DKIM signatures that do not verify were removed`
  return { pieces: [kept, ...others], corrections: [...corrections, corrected] }
}
