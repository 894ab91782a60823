import type { Sql } from '../../platform/database/database.ts'
import { sendBehind } from '../../platform/database/driver/send-behind.ts'
import type { Flow } from './flows.ts'

/** The notification channel that wakes workers after a message is accepted. */
export const QUEUE_CHANNEL = 'postrider_queue'

/** Flows beyond which a notification names none: a payload holds 8000 bytes. */
const MAX_NAMED = 400
/**
 * Milliseconds in which the mail of a flow wakes the same worker first. Long enough that the worker takes the mail of several accepts by one
 * claim, short enough that workers share what is more than one of them can send.
 */
const TURN_MS = 50
/** Turns after which their number starts again. */
const TURNS = 1_000_000

/** Mail that was queued. */
export interface QueuedMail {
  readonly flows: readonly Flow[]
  /** Determines which worker looks for it first: the same for all workers, and another one shortly after. */
  readonly turn: number
}

/**
 * Wakes the workers. NOTIFY stays outside the transaction that accepts a message, because it takes a lock that all committing sessions share.
 * While one is sent by itself, others wait to be sent together, because one wake-up serves all; while one is behind a statement, no second one is
 * put behind another.
 */
export interface Announcer {
  /** Wakes them after a commit that has queued mail of this flow. */
  announce(flow: Flow): void
  /**
   * Wakes them behind a statement that is about to be sent and queues mail of these flows, on its connection: the server does so as soon as it has
   * committed, which saves a round trip of two sleeping processes (docs/performance.md). Returns a function that says, after the commit, whether
   * it did; if not, the flows are to be announced.
   */
  announceBehind(statement: Promise<unknown>, flows: readonly Flow[]): () => boolean
}

export function createAnnouncer(sql: Sql): Announcer {
  let running = false
  /** Notifications behind statements that have not ended. They may take as long as these, so others do not wait for them. */
  let behind = 0
  let queued = new Set<string>()
  const run = async (): Promise<void> => {
    running = true
    while (queued.size > 0) {
      const flows = queued
      queued = new Set()
      // A lost wake-up delays mail by one poll interval at most.
      await wake(sql, payloadOf(flows)).catch(() => {})
    }
    running = false
  }
  const announce = (flow: Flow): void => {
    queued.add(nameOf(flow))
    if (!running) void run()
  }
  return {
    announce,
    announceBehind(statement, flows) {
      if (running || behind > 0) return () => false
      const wakeUp = (): Promise<unknown> => {
        behind++
        return wake(sql, payloadOf(new Set(flows.map(nameOf))))
      }
      return sendBehind(statement, wakeUp, (sent) => {
        // The statement may have been committed before the connection was lost.
        void sent.catch(() => flows.forEach(announce)).then(() => behind--)
      })
    },
  }
}

function nameOf({ accountId, class: of }: Flow): string {
  return `${accountId}.${of}`
}

function payloadOf(flows: ReadonlySet<string>): string {
  return flows.size > MAX_NAMED ? '' : `${turnNow()}:${[...flows].join(' ')}`
}

/** By the clock of this host. If others differ, they wake other workers first. */
function turnNow(): number {
  return Math.floor(Date.now() / TURN_MS) % TURNS
}

/**
 * NOTIFY writes a commit record, which need not be flushed. Without parameters, as {@link sendBehind} needs it: a payload has digits, blanks and
 * punctuation only.
 */
export function wake(sql: Sql, payload: string): Promise<unknown> {
  return sql.unsafe(`select set_config('synchronous_commit', 'off', true), pg_notify('${QUEUE_CHANNEL}', '${payload}')`)
}

/** Returns what a notification says was queued; undefined if any flow may have mail. Earlier versions name no turn. */
export function readQueued(payload: string): QueuedMail | undefined {
  const [, turn, named] = /^(?:(\d{1,6}):)?((?:\d{1,10}\.[012](?: |$)){1,1000})$/.exec(payload) ?? []
  if (named === undefined) return undefined
  const flows = named.split(' ').map((flow) => {
    const [accountId, of] = flow.split('.').map(Number)
    return { accountId: accountId as number, class: of as Flow['class'] }
  })
  return { flows, turn: Number(turn ?? 0) }
}
