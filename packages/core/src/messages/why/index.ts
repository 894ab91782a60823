import { livingWorkers } from '../../delivery/leases/lease.ts'
import { partsOfDestination } from '../../delivery/limits/destination-names.ts'
import { pausesOf } from '../../delivery/limits/overrides.ts'
import type { ReplyMeaning } from '../../delivery/outcomes/reply-meaning.ts'
import { domainOfPlace, HELD_PLACE, holdOf } from '../../delivery/queue/account-holds.ts'
import { flowRates } from '../../delivery/queue/flow-progress.ts'
import { type AheadByNo, aheadAtDestinations, aheadInFlow, isOtherFlowDue } from '../../delivery/queue/line.ts'
import { lackingOf } from '../../delivery/queue/requirement-holds.ts'
import type { DeliveryState } from '../../delivery/queue/states.ts'
import { readEgress } from '../../delivery/sources/egress.ts'
import { addressKey } from '../../mime/address.ts'
import type { AnySql, Sql } from '../../platform/database/database.ts'
import { readInOrder } from '../../platform/database/read-in-order.ts'
import { messageIdText } from '../../submission/message-id.ts'
import { transactionNumber } from '../../submission/transaction-numbers.ts'
import type { Expectation, Explanation, Facts, WaitingFacts, WaitingReason } from './explanation.ts'
import { dueFromOf, findReason, meaningOf, waitingOf } from './reason.ts'
import {
  type DeliveryRow,
  findMessage,
  type MessageRow,
  pausedBatchOf,
  readAttempts,
  readDeliveries,
  readLateBounces,
  readProblems,
  recentAttempts,
  type WhyAttempt,
  type WhyQuery,
} from './rows.ts'

export { type Expectation, WAITING_REASONS, type WaitingFacts, type WaitingReason } from './explanation.ts'
export { MAX_EXPLAINED, type WhyAttempt, type WhyQuery } from './rows.ts'

export interface MessageWhy {
  /** 32 hex digits. */
  readonly id: string
  readonly accountId: number
  readonly acceptedAt: Date
  /** The number of deliveries that match the query, of which `deliveries` are the first 100. */
  readonly total: number
  readonly deliveries: readonly DeliveryWhy[]
}

/** Where a delivery is, why it is not further, and when it will be. */
export interface DeliveryWhy {
  readonly recipientNo: number
  /** v2 TRANSID. */
  readonly transactionNumber: string
  readonly recipient: string
  readonly state: DeliveryState
  /** Null if it is finished. */
  readonly waitingFor: WaitingReason | null
  /** One or more sentences for the sender, in English, with times in UTC. */
  readonly text: string
  /** The facts from which these sentences are made. */
  readonly facts?: WaitingFacts | undefined
  /** When it was first due: when the message was accepted, or at its scheduled time. */
  readonly dueFrom: Date
  /** The meaning of the last refusal; null without one. */
  readonly meaning: ReplyMeaning | null
  /** The error in the template or the directives of a dropped delivery. */
  readonly problem: string | null
  /** Since when it has waited for this; of a finished delivery, when it was finished. */
  readonly since: Date | null
  /** When it is tried next; null if that is not planned for a certain time, or if it is finished. */
  readonly nextAt: Date | null
  readonly expected: Expectation | null
  /** How many deliveries are tried before, counted up to 10,000, or 1,000 if the message waits at more than ten destinations; null if it does not wait. */
  readonly ahead: number | null
  /** Until when it is tried; null if it is finished. */
  readonly deadline: Date | null
  /** The provider or site whose capacity it waits for; null if it waits for none, or if that is not yet known. */
  readonly place: string | null
  /** The latest ten. */
  readonly attempts: readonly WhyAttempt[]
}

/**
 * Explains the first 100 deliveries of a message, or those selected; undefined if there is no such message, or no delivery with the
 * transaction number. All from one snapshot, with the same number of statements for any number of deliveries.
 */
export async function explainMessage(sql: Sql, query: WhyQuery): Promise<MessageWhy | undefined> {
  return sql.begin('isolation level repeatable read read only', (snapshot) => explainIn(snapshot, query)) as Promise<
    MessageWhy | undefined
  >
}

/** As {@link explainMessage}, in a transaction that has one snapshot for all statements. From then on it reads in the order of indexes. */
export async function explainIn(snapshot: AnySql, query: WhyQuery): Promise<MessageWhy | undefined> {
  await readInOrder(snapshot, true)
  const message = await findMessage(snapshot, query)
  return message && explain(snapshot, message, query)
}

async function explain(sql: AnySql, message: MessageRow, query: WhyQuery): Promise<MessageWhy | undefined> {
  const recipientNo = recipientNoOf(message, query.transactionNumber)
  if (recipientNo === null) return undefined
  const recipientKey = query.recipient === undefined ? undefined : addressKey(query.recipient)
  const rows = await readDeliveries(sql, message.id, {
    recipientNo,
    recipientKey,
    fromRecipient: query.fromRecipient ?? 0,
  })
  if (recipientNo !== undefined && rows.length === 0) return undefined
  const all = recipientNo === undefined && recipientKey === undefined
  const attempts = await readAttempts(
    sql,
    message.id,
    rows.map((row) => row.recipientNo),
  )
  const problems = await readProblems(sql, message, rows)
  const find = await createFinder(sql, message, rows, { ...query, problems })
  return {
    id: messageIdText(message.id),
    accountId: message.accountId,
    acceptedAt: message.acceptedAt,
    total: all ? message.recipients : rows.length,
    deliveries: rows.map((row) => {
      const own = attempts.get(row.recipientNo) ?? []
      return {
        recipientNo: row.recipientNo,
        transactionNumber: transactionNumber(message.transactionBase, row.recipientNo),
        recipient: row.recipient,
        state: row.state,
        ...find(row, own),
        dueFrom: dueFromOf(message, row),
        meaning: meaningOf(row, own.at(-1)) ?? null,
        problem: problems.get(row.recipientNo) ?? null,
        deadline: row.expiresAt,
        place: row.place,
        attempts: own,
      }
    }),
  }
}

/** Returns undefined if no number is given, and null if it is not one of the message. */
function recipientNoOf({ transactionBase }: MessageRow, given: string | undefined): number | null | undefined {
  if (given === undefined) return undefined
  if (!/^\d{1,18}$/.test(given)) return null
  const distance = BigInt(given) - BigInt(transactionBase)
  return distance >= 0n && distance % 4n === 0n && distance < 40_000n ? Number(distance / 4n) : null
}

/** Reads what the reasons of these deliveries depend on, only as far as they do. */
async function createFinder(
  sql: AnySql,
  message: MessageRow,
  rows: readonly DeliveryRow[],
  { accountId, problems }: WhyQuery & Pick<Facts, 'problems'>,
): Promise<(row: DeliveryRow, attempts: readonly WhyAttempt[]) => Explanation> {
  const waiting = Map.groupBy(rows, (row) => waitingOf(row, message.now))
  const [due, parked] = [waiting.get('due') ?? [], waiting.get('parked') ?? []]
  const destinations = [...new Set(parked.flatMap(({ place }) => place ?? []))]
  const held = destinations.flatMap((place) => domainOfPlace(place) ?? [])
  // All deliveries of a message are in one flow.
  const flow = { accountId: message.accountId, class: [...due, ...parked][0]?.class ?? 1 }
  const line = (some: readonly DeliveryRow[]) => ({
    ...flow,
    messageId: message.id,
    recipientNos: some.map(({ recipientNo }) => recipientNo),
  })
  const none: AheadByNo = new Map()
  const aheadOfDue = due.length > 0 ? await aheadInFlow(sql, line(due)) : none
  const aheadOfParked = parked.length > 0 ? await aheadAtDestinations(sql, line(parked), destinations) : none
  const isQueued = due.length + parked.length + (waiting.get('claimed')?.length ?? 0) > 0
  const delivered = rows.filter(({ state }) => state === 'delivered').map(({ recipientNo }) => recipientNo)
  return findReason({
    message,
    problems,
    late: await readLateBounces(sql, message, delivered),
    isOperator: accountId === undefined,
    ahead: new Map([...aheadOfDue, ...aheadOfParked]),
    workers: isQueued ? await livingWorkers(sql) : new Set(),
    pauses: parked.length > 0 ? await pausesOf(sql, message.accountId, destinations) : new Map(),
    sources: destinations.some((destination) => partsOfDestination(destination).source !== undefined)
      ? (await readEgress(sql)).sources
      : [],
    rates: parked.length > 0 ? await flowRates(sql, flow, destinations) : new Map(),
    hold: destinations.includes(HELD_PLACE) ? await holdOf(sql, flow) : undefined,
    lacking: held.length > 0 ? await lackingOf(sql, held) : new Map(),
    batch: waiting.has('held') ? await pausedBatchOf(sql, message) : undefined,
    isOtherFlowDue: due.length > 0 && (await isOtherFlowDue(sql, flow)),
    recent: [...aheadOfDue.values()].some(({ count }) => count > 0)
      ? await recentAttempts(sql, message.accountId)
      : undefined,
  })
}
