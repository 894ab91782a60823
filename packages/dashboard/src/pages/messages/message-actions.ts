import { ServiceError } from '@postrider/core'
import { type Answer, redirect } from '../../frame/answer.ts'
import { attempt } from '../../frame/attempt.ts'
import type { AccountCall } from '../../frame/call.ts'
import { evenIfLarge } from '../../frame/forms/even-if-large.ts'
import { messagePage } from './message.ts'

/** Makes what is deferred due now. */
export async function tryMessageNow(call: AccountCall): Promise<Answer> {
  const { core, by } = call
  if (!(await core.messages.tryNow(target(call), by))) throw new ServiceError('messageNotFound')
  return toMessage(call, 'retried')
}

/** Drops what waits. */
export async function cancelMessage(call: AccountCall): Promise<Answer> {
  const { core, by } = call
  if (!(await core.messages.cancel(target(call), by))) throw new ServiceError('messageNotFound')
  return toMessage(call, 'cancelled')
}

/** Sends a message again, as a new one by the rules that apply now, and shows the new one. */
export async function sendAgain(call: AccountCall): Promise<Answer> {
  const { account, address, core, params, path, visitor } = call
  const principal = await core.people.principal(visitor, account.id)
  if (!principal) throw new ServiceError('messageNotFound')
  const id = params.message as string
  const sent = await attempt(() =>
    evenIfLarge(call, () => core.messages.resend({ principal, clientAddress: address, messageId: id }), {
      path: `/messages/${encodeURIComponent(id)}/resend`,
      scope: 'send',
    }),
  )
  if (!sent.ok) return messagePage(call, sent.problem)
  return redirect(path(`messages/${sent.value.messageId.replaceAll('-', '')}`), 'sentAgain')
}

function target({ account, params }: AccountCall) {
  return { messageId: params.message as string, accountId: account.id }
}

function toMessage({ params, path }: AccountCall, said: string): Answer {
  return redirect(path(`messages/${params.message}`), said)
}
