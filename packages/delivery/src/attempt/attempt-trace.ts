import {
  type ClaimedDelivery,
  type LoadedMessage,
  type Outcome,
  type SpanAttributes,
  type Step,
  startSpan,
  traceTime,
} from '@postrider/core'

export interface TracedAttempt {
  readonly delivery: ClaimedDelivery
  readonly outcome: Outcome
  readonly message: LoadedMessage | undefined
}

/** Adds a recorded attempt to the trace of its message, if that is sampled: how long the delivery was due, and the attempt by its steps. */
export function traceAttempt({ delivery, outcome, message }: TracedAttempt): void {
  const parent = message?.settings.traceParent
  if (parent === undefined || outcome.kind === 'dropped') return
  const endedAt = traceTime()
  const startedAt = endedAt - outcome.milliseconds
  const attributes = {
    'postrider.message_id': delivery.messageId.replaceAll('-', ''),
    'postrider.recipient_no': delivery.recipientNo,
    'postrider.attempt': delivery.attempt,
  }
  const queued = Math.min(delivery.dueAt, startedAt)
  startSpan({ name: 'queue', kind: 'internal', parent, startedAt: queued })?.end({ attributes, endedAt: startedAt })
  startSpan({ name: 'attempt', kind: 'client', parent, startedAt })?.end({
    attributes: { ...attributes, ...attributesOf(outcome) },
    events: eventsOf(outcome.steps, startedAt),
    failure: outcome.kind === 'delivered' ? undefined : `${outcome.kind} at ${outcome.stage}`,
    endedAt,
  })
}

/** The server's texts are left out: they repeat the address of the recipient. */
function attributesOf(outcome: Exclude<Outcome, { kind: 'dropped' }>): SpanAttributes {
  const { host, reply } = outcome
  return {
    'postrider.outcome': outcome.kind,
    ...(host === undefined ? {} : { 'server.address': host }),
    ...(reply.code === 0 ? {} : { 'postrider.reply_code': reply.code }),
    ...(reply.enhanced === '' ? {} : { 'postrider.enhanced_code': reply.enhanced }),
  }
}

/** Each step at its end. */
function eventsOf(steps: readonly Step[], startedAt: number) {
  let at = startedAt
  return steps.map(({ step, ms, code }) => {
    at += ms
    return { name: step, at, attributes: code === undefined ? {} : { code } }
  })
}
