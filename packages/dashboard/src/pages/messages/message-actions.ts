import { ServiceError } from '@postrider/core'
import { type Answer, redirect } from '../../frame/answer.ts'
import { attempt } from '../../frame/attempt.ts'
import { type AccountCall, field } from '../../frame/call.ts'
import { evenIfLarge } from '../../frame/forms/even-if-large.ts'
import { requireMessage } from './find-message.ts'
import { messagePage } from './message.ts'

/** Makes what is deferred due now. */
export async function tryMessageNow(call: AccountCall): Promise<Answer> {
  const { core, by } = call
  if (!(await core.messages.tryNow(target(call), by))) throw new ServiceError('messageNotFound')
  return toMessage(call, 'retried')
}

/** Drops what waits, of all recipients or of one. */
export async function cancelMessage(call: AccountCall): Promise<Answer> {
  const { core, by } = call
  const recipientNos = recipientsOf(call)
  const done = await attempt(() => core.messages.cancel({ ...target(call), recipientNos }, by))
  if (!done.ok) return messagePage(call, done.problem)
  if (!done.value) throw new ServiceError('messageNotFound')
  return toMessage(call, 'cancelled')
}

/** Gives what is scheduled another time. */
export async function rescheduleMessage(call: AccountCall): Promise<Answer> {
  const { core, by, form } = call
  const done = await attempt(() => core.messages.reschedule({ ...target(call), schedule: field(form, 'schedule') }, by))
  if (!done.ok) return messagePage(call, done.problem)
  if (!done.value) throw new ServiceError('messageNotFound')
  return toMessage(call, 'rescheduled')
}

/** Sends a message again, to all recipients or to one, whose address may be corrected, as a new one by the rules that apply now; shows the new one. */
export async function sendAgain(call: AccountCall): Promise<Answer> {
  const { account, address, core, form, params, path, visitor } = call
  const principal = await core.people.principal(visitor, account.id)
  if (!principal) throw new ServiceError('messageNotFound')
  const id = params.message as string
  const recipientNos = recipientsOf(call)
  const to = recipientNos && field(form, 'to') !== '' ? field(form, 'to') : undefined
  const order = { principal, clientAddress: address, messageId: id, recipientNos, to }
  const sent = await attempt(() =>
    evenIfLarge(call, () => core.messages.resend(order), {
      path: `/messages/${encodeURIComponent(id)}/resend`,
      scope: 'send',
      input: { ...(recipientNos ? { recipients: recipientNos } : {}), ...(to === undefined ? {} : { to }) },
    }),
  )
  if (!sent.ok) return messagePage(call, sent.problem)
  return redirect(path(`messages/${sent.value.messageId.replaceAll('-', '')}`), 'sentAgain')
}

/** Suppresses a recipient. */
export async function suppressRecipient(call: AccountCall): Promise<Answer> {
  const { account, by, core } = call
  const recipient = await requireRecipient(call)
  const done = await attempt(() => core.suppressions.addAll({ accountId: account.id, emails: [recipient], by }))
  return done.ok ? toMessage(call, 'suppressed') : messagePage(call, done.problem)
}

/** Removes the account's entries that keep mail from a recipient: those of the address, and that of the message's group. */
export async function unsuppressRecipient(call: AccountCall): Promise<Answer> {
  const { account, by, core } = call
  const recipient = await requireRecipient(call)
  const removed = await attempt(async () => {
    const entries = await core.suppressions.holding(account.id, recipient, groupOf(call))
    for (const { scope, group, global } of entries) {
      if (global || scope === 'domain') continue
      const only = scope === 'group' ? { group } : {}
      await core.suppressions.removeAll({ accountId: account.id, emails: [recipient], ...only, by })
    }
  })
  return removed.ok ? toMessage(call, 'unsuppressed') : messagePage(call, removed.problem)
}

function groupOf({ form }: AccountCall): number | undefined {
  const group = Number(field(form, 'group'))
  return Number.isSafeInteger(group) && group > 0 ? group : undefined
}

/** Throws messageNotFound. */
async function requireRecipient(call: AccountCall): Promise<string> {
  const [no] = recipientsOf(call) ?? []
  if (no === undefined) throw new ServiceError('messageNotFound')
  const { deliveries } = await requireMessage(call, { fromRecipient: no })
  const found = deliveries.find(({ recipientNo }) => recipientNo === no)
  if (!found) throw new ServiceError('messageNotFound')
  return found.recipient
}

/** The recipient of the form; undefined if it is for all of them. Throws messageNotFound: an invalid number must not mean all. */
function recipientsOf({ form }: AccountCall): number[] | undefined {
  const text = field(form, 'recipient')
  if (text === '') return undefined
  if (!/^\d{1,6}$/.test(text)) throw new ServiceError('messageNotFound')
  return [Number(text)]
}

function target({ account, params }: AccountCall) {
  return { messageId: params.message as string, accountId: account.id }
}

function toMessage(call: AccountCall, said: string): Answer {
  const { params, path } = call
  const [no] = recipientsOf(call) ?? []
  return redirect(path(`messages/${params.message}${no === undefined ? '' : `?to=${no}`}`), said)
}
