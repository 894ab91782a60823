import { randomBytes } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import type { Core, MessageDetails } from '@postrider/core'
import { sandboxUrl } from '../first-run.ts'
import { ENTRY_POINTS, submit } from '../test-message.ts'
import type { Check } from './check.ts'
import { bad, type CheckResult, NotChecked, ok, type Stages, warn } from './check-result.ts'
import { RESPONSE_MS, type Readings } from './readings.ts'

/** Milliseconds that a message may take. Without a worker, nothing comes of it. */
const WAIT_MS = { usual: 60_000, noWorker: 1000 }
const POLL_MS = 50
/** The sandbox shows a message a moment after it has accepted it. */
const ARRIVAL_MS = 5000

type EntryPoint = (typeof ENTRY_POINTS)[number]

/** The sender of the test messages, and its key. */
export interface TestSender {
  readonly core: Core
  readonly from: string
  readonly key: string
}

/** One message through each entry point, with the time that each stage took. */
export function sendChecks(sender: TestSender, to: string): Check[] {
  return ENTRY_POINTS.map((via) => ({
    area: 'mail',
    name: `message by ${via}`,
    database: true,
    limitMs: 2 * WAIT_MS.usual,
    run: (readings) => send(via, readings, { ...sender, to }),
  }))
}

async function send(
  via: EntryPoint,
  readings: Readings,
  { core, from, key, to }: TestSender & { to: string },
): Promise<CheckResult> {
  await requireEntryPoint(via, readings)
  const subject = `Postrider doctor: ${via}, ${randomBytes(4).toString('hex')}`
  const began = performance.now()
  const sent = await submit[via](readings.config, { key, from, to, subject, class: undefined }).catch(
    (error: Error) => error,
  )
  if (sent instanceof Error)
    return bad(sent.message, `correct it, then: postrider message send --via ${via} --from ${from} --to ${to}`)
  const accepted = Math.round(performance.now() - began)
  const waitMs = (await readings.workers()).some(({ alive }) => alive) ? WAIT_MS.usual : WAIT_MS.noWorker
  const message = await awaitAttempt(core, sent, waitMs)
  const stages = { accepted, ...stagesOf(message) }
  const result = await evaluate(message, sent, stages, { subject, readings, waitMs })
  return { ...result, stages }
}

/** The check of the process itself has reported that it does not run. */
async function requireEntryPoint(via: EntryPoint, { api, relay }: Readings): Promise<void> {
  const runs = via === 'smtp' ? (await relay())?.startsWith('220') : (await api())?.status === 200
  if (!runs) throw new NotChecked(`the ${via === 'smtp' ? 'relay' : 'API'} of this host does not accept mail`)
}

/** Returns the message as soon as it was tried once or is final, or when the time is over. */
async function awaitAttempt(core: Core, id: string, waitMs: number): Promise<MessageDetails | undefined> {
  const deadline = performance.now() + waitMs
  for (;;) {
    const message = await core.messages.show(id)
    const delivery = message?.deliveries[0]
    const isOver = delivery !== undefined && (delivery.finishedAt !== null || delivery.attempts.length > 0)
    if (isOver || performance.now() > deadline) return message
    await pause(POLL_MS)
  }
}

function stagesOf(message: MessageDetails | undefined): Stages {
  const delivery = message?.deliveries[0]
  const [first] = delivery?.attempts ?? []
  if (!message || !delivery || !first) return {}
  const since = (time: Date) => Math.max(0, time.getTime() - message.acceptedAt.getTime())
  const { finishedAt, state } = delivery
  return {
    claimed: since(first.startedAt),
    ...(state === 'delivered' && finishedAt ? { delivered: since(finishedAt) } : {}),
  }
}

async function evaluate(
  message: MessageDetails | undefined,
  id: string,
  { accepted, claimed, delivered }: Stages,
  { subject, readings, waitMs }: { readonly subject: string; readonly readings: Readings; readonly waitMs: number },
): Promise<CheckResult> {
  const delivery = message?.deliveries[0]
  const times = [`accepted ${accepted} ms`, ...(claimed === undefined ? [] : [`claimed ${claimed} ms`])].join(', ')
  const why = `postrider message why ${id}`
  if (delivered !== undefined) {
    const text = `${times}, delivered ${delivered} ms`
    if (readings.config.delivery.kind !== 'sandbox') return ok(text)
    return (await isInSandbox(readings, subject))
      ? ok(`${text}; it is in the sandbox inbox`)
      : bad(`${text}, but it is not in the sandbox inbox`, 'see the log of the sandbox; postrider inbox list')
  }
  if (delivery === undefined || delivery.attempts.length === 0)
    return bad(`${times}, but not tried within ${waitMs / 1000} s`, why)
  const last = delivery.attempts.at(-1)
  const reply = [last?.code, last?.enhanced, last?.reply].filter(Boolean).join(' ')
  const text = `${times}, then ${delivery.state}: ${delivery.reason ?? reply}`
  return delivery.state === 'deferred' || delivery.state === 'queued' ? warn(text, why) : bad(text, why)
}

async function isInSandbox({ config }: Readings, subject: string): Promise<boolean> {
  const deadline = performance.now() + ARRIVAL_MS
  while (performance.now() < deadline) {
    const response = await fetch(`${sandboxUrl(config)}/messages`, { signal: AbortSignal.timeout(RESPONSE_MS) })
    const entries = (await response.json()) as { subject: string }[]
    if (entries.some((entry) => entry.subject === subject)) return true
    await pause(POLL_MS)
  }
  return false
}
