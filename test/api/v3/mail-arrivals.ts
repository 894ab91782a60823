import { fromShortMessageId, type MessageDetails } from '@postrider/core'
import type { Test } from 'tap'
import type { V2Answer } from '../../helpers/send.ts'
import { type Arrivals, type Copy, makeArrivals } from '../arrivals.ts'
import type { CallAnswer } from '../call.ts'
import { ask } from './ask.ts'
import { type Fields, mailBody } from './mail.ts'

/** The service behind v3, with a delivery worker that sends everything to a sink. */
export interface MailArrivals extends Omit<Arrivals, 'send' | 'copies' | 'story' | 'deliver'> {
  /** Sends {@link mailBody} with `extra` on top. */
  send(extra?: Fields, headers?: Record<string, string>): Promise<CallAnswer>
  /** Waits until this many copies of the message have arrived; answers them by recipient, in order. */
  copies(answer: CallAnswer, count?: number): Promise<Copy[]>
  /** What became of the message so far. */
  story(answer: CallAnswer): Promise<MessageDetails>
}

export async function makeMailArrivals(t: Test, settings: Record<string, string> = {}): Promise<MailArrivals> {
  const { copies, story, send: _send, deliver: _deliver, ...arrivals } = await makeArrivals(t, settings)
  const { base, sender } = arrivals
  return {
    ...arrivals,
    send: (extra = {}, headers = {}) =>
      ask(base, { path: '/mail/send', key: sender.apiKey, headers, body: mailBody(sender, extra) }),
    copies: (answer, count) => copies(asV2(answer), count),
    story: (answer) => story(asV2(answer)),
  }
}

/** The id of an accepted message, in 32 hex digits. */
export function messageIdOf({ status, headers, text }: Pick<CallAnswer, 'status' | 'headers' | 'text'>): string {
  const id = fromShortMessageId(String(headers['x-message-id']))
  if (status !== 202 || id === undefined) throw new Error(`not accepted: ${status} ${text}`)
  return id
}

function asV2(answer: CallAnswer): V2Answer {
  const body = { data: { message_id: messageIdOf(answer) }, message: 'Success', error_info: null }
  return { status: answer.status, body, headers: new Headers() }
}
