import type { Sql } from '../platform/database/database.ts'
import { ServiceError } from '../platform/errors.ts'
import type { Secrets } from '../platform/security/secrets.ts'
import type { AggregateReports } from './aggregate/index.ts'
import { applyReading } from './apply-reading.ts'
import { findMentioned, findTarget } from './find-target.ts'
import { isForwarded } from './forward.ts'
import { notedRecipients, notedSender } from './noted-recipients.ts'
import { isReportRole, type ReturnAddress, type ReturnAddressReader, readReturnAddress } from './return-address.ts'
import type { ReturnReader } from './return-reader.ts'
import type { Reading, ReturnResult } from './return-result.ts'
import { countKept, hasRoom, insertReturn, isKept, NOT_KEPT, newReturnId, packed, RETURN_LIMITS } from './store.ts'

export interface TakenReturn {
  /** The message that came back, with its header. Its beginning suffices, except of an aggregate report. */
  readonly raw: Buffer
  /** Its size in bytes, if that is not all of it. */
  readonly size?: number
  /** Its recipients, among them the return path that it was sent to. If undefined, those that servers noted in its header. */
  readonly recipients?: readonly string[] | undefined
  /** MAIL FROM, empty for the null sender. If undefined, that of Return-Path in its header, which the server that received it adds. */
  readonly mailFrom?: string | undefined
  /** The network that it came from, if it came by SMTP. */
  readonly client?: string | undefined
}

export interface ReturnDependencies extends ReturnAddressReader {
  readonly sql: Sql
  readonly secrets: Secrets
  readonly hardBounceDays: number
  readonly reader: ReturnReader
  readonly aggregateReports: Pick<AggregateReports, 'take'>
  /** Whether letters are passed on to the operator. */
  readonly forwards: boolean
}

/**
 * Reads a message that came back, does what follows from it, and stores that, in one transaction that is committed when this returns. Each kind of
 * report has its effect once per delivery; one without a valid mark of this service has none. Nothing is stored if neither a recipient nor
 * a mark is valid, nor while an attempt is in progress (`in-flight`): it must then be taken again. Aggregate reports: see take-report.ts.
 *
 * Throws `overloaded` if it would have to be kept for the operator and too many are; and the database's errors.
 */
export async function takeReturn(
  dependencies: ReturnDependencies,
  { raw, size = raw.length, recipients = notedRecipients(raw), mailFrom: sender, client }: TakenReturn,
): Promise<ReturnResult> {
  const { sql, secrets, reader, now } = dependencies
  const mailFrom = sender ?? notedSender(raw)
  const addressed = recipients.map((sentTo) => ({ sentTo, address: readReturnAddress(dependencies, sentTo) }))
  // A report to a return path is about that delivery, even if an address of the operator gets it, too.
  const taken = addressed.find(isReturnPath) ?? addressed.find(({ address }) => address !== undefined)
  const role = taken?.address?.kind === 'role' ? taken.address.role : null
  if (taken && isReportRole(role))
    return dependencies.aggregateReports.take({ raw, size, role, client, sentTo: taken.sentTo })
  const returnPath = taken && isReturnPath(taken) ? taken.sentTo : undefined
  const { reading: read, reporter } = await reader.read(raw, { returnPath, mailFrom: mailFrom ?? undefined, client })
  const marked = findTarget({ secrets, recipients, reading: read, now: now() })
  const reading = letterIn(read, { isForOperator: role !== null && !marked })
  if (reading.kind === 'letter' && (await countKept(sql, RETURN_LIMITS.kept)) >= RETURN_LIMITS.kept) {
    throw new ServiceError('overloaded', { reason: `${RETURN_LIMITS.kept} letters to the operator are kept` })
  }
  const mentioned = reading.kind === 'letter' ? (await reader.readLetter(raw)).mentioned : undefined
  const target = mentioned ? findMentioned(secrets, mentioned, now()) : marked
  const returnId = await newReturnId(sql)
  const { effect, why } = await applyReading(
    dependencies,
    { returnId, reading, target },
    async (transaction, applied) => {
      if (!target && role === null) return
      // A letter is never left out: if it cannot be stored with the delivery, it is stored without it.
      const isTied =
        target !== undefined &&
        (!mentioned || (applied.delivery !== undefined && (await hasRoom(transaction, target, RETURN_LIMITS))))
      const about = isTied ? target : { messageId: null, recipientNo: null }
      const forwarded = dependencies.forwards && reading.kind === 'letter' && isForwarded(role)
      const row = { ...about, id: returnId, reading, reporter, role, size, mailFrom, forwarded, applied }
      const kept = isKept(row) ? { content: packed(raw), sentTo: taken?.sentTo ?? null } : NOT_KEPT
      await insertReturn(transaction, { ...row, ...kept }, RETURN_LIMITS)
    },
  )
  return { kind: reading.kind, delivery: target ?? null, effect, why }
}

function isReturnPath({ address }: { readonly address: ReturnAddress | undefined }): boolean {
  return address?.kind === 'return-path'
}

/** Mail to the operator that is not a report is a letter. */
function letterIn(reading: Reading, { isForOperator }: { readonly isForOperator: boolean }): Reading {
  return reading.kind === 'unrecognised' && isForOperator ? { kind: 'letter' } : reading
}
