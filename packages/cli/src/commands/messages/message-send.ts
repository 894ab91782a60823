import { setTimeout as pause } from 'node:timers/promises'
import { type ClassName, type Core, DELIVERY_CLASSES, type MessageDetails } from '@postrider/core'
import {
  type Answer,
  type Call,
  type Command,
  CommandError,
  requiredId,
  requiredText,
  textOption,
  UsageError,
} from '../../command.ts'
import { ENTRY_POINTS, submit } from '../../test-message.ts'
import { apiKeyOf } from '../api-key.ts'

type Delivery = MessageDetails['deliveries'][number]

const WAIT_MS = 60_000
const POLL_MS = 250
const FINAL: ReadonlySet<string> = new Set(['delivered', 'bounced', 'dropped', 'expired'])

export const messageSendCommands: readonly Command[] = [
  {
    name: 'message send',
    usage:
      '--to ADDRESS (--from ADDRESS | --account ID) [--key KEY|-] [--via v2|v3|smtp] [--class CLASS] [--subject TEXT] [--wait]',
    summary: 'Send a test message through the running service',
    parameters: {
      to: 'Address of the recipient',
      from: 'Address of the sender',
      account: 'Send from the first active domain of the account with this number',
      key: 'API key (default: POSTRIDER_API_KEY); "-" reads it from stdin',
      via: 'Entry point (default v2)',
      subject: 'Subject',
      wait: 'Wait up to 60 s for the result; the exit status is 1 if it is not delivered',
    },
    examples: ['message send --to you@example.com --account 12 --wait'],
    run: send,
  },
]

async function send(call: Call): Promise<Answer> {
  const to = address(requiredText(call, 'to'), '--to')
  const from = textOption(call, 'from')
  const accountId = textOption(call, 'account') === undefined ? undefined : requiredId(call, 'account')
  if (from === undefined && accountId === undefined) throw new UsageError('missing option --from or --account')
  const via = oneOf(textOption(call, 'via') ?? 'v2', ENTRY_POINTS, '--via')
  const named = textOption(call, 'class')
  const of: ClassName | undefined = named === undefined ? undefined : oneOf(named, DELIVERY_CLASSES, '--class')
  const subject = textOption(call, 'subject') ?? 'Postrider test message'
  if (/\p{Cc}/u.test(subject)) throw new UsageError('--subject must not contain control characters')
  const sender = from === undefined ? undefined : address(from, '--from')
  const key = await apiKeyOf(call, 'POSTRIDER_API_KEY')
  const domain = sender === undefined ? await call.withCore((core) => activeDomain(core, accountId as number)) : ''
  const id = await submit[via](call.config, { key, to, subject, class: of, from: sender ?? `postmaster@${domain}` })
  const lines = [`message ${id} accepted via ${via}`, `follow it with: postrider message show ${id}`]
  if (!call.options.wait) return { data: { id, via }, text: lines.join('\n') }
  const deliveries = await call.withCore((core) => awaitResult(core, id))
  const results = deliveries.map(resultOf)
  const isDelivered = deliveries.length > 0 && deliveries.every(({ state }) => state === 'delivered')
  const isFinal = deliveries.every(({ state }) => FINAL.has(state))
  return {
    data: { id, via, deliveries: deliveries.map(({ recipient, state, attempt }) => ({ recipient, state, attempt })) },
    text: [...lines, ...results].join('\n'),
    ...(isDelivered ? {} : { failure: isFinal ? 'not delivered' : `not delivered within ${WAIT_MS / 1000} s` }),
  }
}

/** Throws {@link UsageError}. */
function address(text: string, option: string): string {
  if (!/^[^\s<>@\p{Cc}]+@[^\s<>@\p{Cc}]+$/u.test(text)) {
    throw new UsageError(`${option} must be an email address (got "${text}")`)
  }
  return text
}

/** Throws {@link UsageError}. */
function oneOf<T extends string>(text: string, allowed: readonly T[], option: string): T {
  const found = allowed.find((one) => one === text)
  if (found === undefined) throw new UsageError(`${option} must be one of ${allowed.join(', ')} (got "${text}")`)
  return found
}

async function activeDomain(core: Core, accountId: number): Promise<string> {
  const active = (await core.domains.list(accountId)).find(({ state }) => state === 'active')
  if (!active) {
    throw new CommandError(`account ${accountId} has no active sending domain; use --from, or "domain add" to add one`)
  }
  return active.name
}

/** Returns the deliveries as soon as all are final, or when the time is over. */
async function awaitResult(core: Core, id: string): Promise<readonly Delivery[]> {
  const deadline = performance.now() + WAIT_MS
  for (;;) {
    const deliveries = (await core.messages.show(id))?.deliveries ?? []
    const isFinal = deliveries.length > 0 && deliveries.every(({ state }) => FINAL.has(state))
    if (isFinal || performance.now() > deadline) return deliveries
    await pause(POLL_MS)
  }
}

function resultOf({ recipient, state, reason, attempts }: Delivery): string {
  const last = attempts.at(-1)
  const reply = [last?.code, last?.enhanced, last?.reply].filter(Boolean).join(' ')
  const detail = reason ?? reply
  return `${recipient}: ${state}${detail ? ` (${detail})` : ''}`
}
