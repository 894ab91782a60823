import { pause } from '../harness/processes.ts'
import type { Doors } from './measure.ts'
import { PERSON } from './scale.ts'

/** A request that is not done by then is given up. */
const PATIENCE_S = 600

export interface Forgotten {
  /** From the call to the first answer that says `done`. */
  readonly milliseconds: number
  /** Of each asking how far it is, the longest. */
  readonly longestAnswer: number
  /** Rows that were touched, by what they are. */
  readonly receipt: Readonly<Record<string, number>>
}

/**
 * Has the person of ten thousand messages forgotten, as a client asks for it: POST /v2/gdpr/forget, and every quarter of a second how
 * far it is. Throws an Error when that is refused, or not done in ten minutes.
 */
export async function forgetPerson({ url, apiKey }: Doors, report: (line: string) => void): Promise<Forgotten> {
  const ask = async (path: string, body?: object): Promise<Progress> => {
    const response = await fetch(`${url}/v2/gdpr${path}`, {
      ...(body ? { method: 'POST', body: JSON.stringify(body) } : {}),
      headers: { api_key: apiKey, ...(body ? { 'content-type': 'application/json' } : {}) },
    })
    const text = await response.text()
    if (!response.ok) throw new Error(`/v2/gdpr${path} answered ${response.status}: ${text}`)
    return (JSON.parse(text) as { data: Progress }).data
  }
  const began = performance.now()
  const { requestId } = await ask('/forget', { email: PERSON })
  let longestAnswer = 0
  for (let told = 0; performance.now() - began < PATIENCE_S * 1000; ) {
    await pause(250)
    const asked = performance.now()
    const { status, receipt } = await ask(`/forget/${requestId}`)
    longestAnswer = Math.max(longestAnswer, performance.now() - asked)
    const milliseconds = performance.now() - began
    if (status === 'done') return { milliseconds, longestAnswer, receipt }
    if (milliseconds - told < 2000) continue
    told = milliseconds
    report(`${(milliseconds / 1000).toFixed(1)} s: ${status}, ${JSON.stringify(receipt)}`)
  }
  throw new Error(`${PERSON} was not forgotten in ${PATIENCE_S} s`)
}

interface Progress {
  readonly requestId: string
  readonly status: 'queued' | 'running' | 'done'
  readonly receipt: Readonly<Record<string, number>>
}
