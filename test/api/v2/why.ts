import type { Outcome, WaitingFor } from '@postrider/core'
import type { Test } from 'tap'
import { makeQueue } from '../../core/delivery/queue-of.ts'
import { parkedAt } from '../../helpers/claim.ts'
import type { Sender } from '../../helpers/service.ts'
import { type CallAnswer, call } from '../call.ts'

/** A row of the answer. */
export interface Row extends Record<string, unknown> {
  readonly trid: number
  readonly recipientNo: number
  readonly state: string
  readonly waitingFor: string | null
  readonly text: string
  readonly since: string
  readonly nextAt: string | null
  readonly expected: { readonly p50: string | null; readonly p90: null; readonly basis: string } | null
  readonly ahead: number | null
  readonly deadline: string | null
  readonly attempts: readonly Record<string, unknown>[]
}

export const MINUTE = 60_000
export const PLACE = 'yahoo'

/** A queue without a worker, and the API before it. */
export async function makeWhy(t: Test) {
  const queue = await makeQueue(t)
  const url = await queue.service.openApi()
  const ask = ({ apiKey }: Pick<Sender, 'apiKey'>, query: string): Promise<CallAnswer> =>
    call(url, { method: 'GET', path: `/v2/delivery?${query}`, headers: { api_key: apiKey } })
  const rows = async (query: string, sender = queue.sender): Promise<Row[]> => {
    const { status, json, text } = await ask(sender, query)
    if (status !== 200) throw new Error(text)
    return json?.data as Row[]
  }
  const why = async (id: string, sender = queue.sender) => {
    const [row] = await rows(`messageid=${id}`, sender)
    if (!row) throw new Error('no delivery')
    return row
  }
  return {
    ...queue,
    url,
    ask,
    rows,
    why,
    /** Accepts a message and records an attempt. */
    async tried(outcome: Outcome): Promise<string> {
      const id = await queue.accept(['lena@harbor.example'])
      const workerId = await queue.register()
      const claimed = await queue.claimAll(workerId)
      await queue.core.deliveries.record(claimed.map((one) => ({ ...one, workerId, outcome })))
      return id
    },
    /** Accepts a message and parks it. */
    async parked(waitingFor: WaitingFor, place = PLACE): Promise<string> {
      const id = await queue.accept(['lena@harbor.example'])
      const workerId = await queue.register()
      await queue.core.deliveries.park(workerId, parkedAt(await queue.claimAll(workerId), { place, waitingFor }))
      return id
    },
    pause: (accountId: number | null, rule = 'yahoo-tss04', lasts = 7200) =>
      queue.core.deliveries.limits.set({
        place: PLACE,
        accountId,
        setting: 'pause',
        value: null,
        seconds: null,
        rule,
        lasts,
        reason: '421 4.7.0 [TSS04] deferred',
      }),
  }
}
