import { type Core, isDatabaseTrouble, ServiceError, type TrackingTarget } from '@postrider/core'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { escapeHtml, sendPage, sendWord } from './answers.ts'
import { isOneClick } from './one-click.ts'
import { readerOf, within } from './reader.ts'

/** Milliseconds the page waits for the sender's name, which is optional. */
const NAME_TIMEOUT_MS = 2000
/** Milliseconds until the recipient is asked to try again. */
const UNSUBSCRIBE_TIMEOUT_MS = 10_000

/** Shows the confirmation page of an unsubscribe link. Opening the link has no effect, since machines follow links too. */
export async function askUnsubscribe(core: Core, target: TrackingTarget, reply: FastifyReply): Promise<FastifyReply> {
  const sender = await within(NAME_TIMEOUT_MS, core.tracking.senderOf(target)).catch(() => undefined)
  const from = sender ? ` sent by <strong>${escapeHtml(sender.domain)}</strong>` : ' sent by this sender'
  const what = target.group > 0 ? 'emails of this kind' : 'emails'
  return sendPage(
    reply,
    200,
    'Unsubscribe',
    `<p>Unsubscribe from ${what}${from}?</p><form method="post">` +
      '<input type="hidden" name="List-Unsubscribe" value="One-Click"><button type="submit">Unsubscribe</button></form>',
  )
}

/** Unsubscribes the recipient: one click in a mail client (RFC 8058), or the button of the page. */
export async function unsubscribe(
  core: Core,
  target: TrackingTarget,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  if (!isOneClick(request.body)) return sendWord(reply, 400, 'Bad request')
  try {
    const result = await within(UNSUBSCRIBE_TIMEOUT_MS, core.tracking.unsubscribe(target, readerOf(request)))
    if (result === 'done') {
      const what = target.group > 0 ? 'emails of this kind' : 'emails'
      return sendPage(
        reply,
        200,
        'You are unsubscribed',
        `<p>You will no longer receive ${what} from this sender. To subscribe again, contact the sender.</p>`,
      )
    }
    if (result === 'unknown') {
      return sendPage(
        reply,
        410,
        'This link has expired',
        '<p>We no longer have the message this link belongs to. To unsubscribe, please contact the sender.</p>',
      )
    }
  } catch (error) {
    if (!(error instanceof ServiceError) && !isDatabaseTrouble(error)) throw error
    request.log.warn({ err: error }, 'could not process unsubscribe request')
  }
  return sendPage(
    reply.header('retry-after', '60'),
    503,
    'Temporarily unavailable',
    '<p>We could not process your request. Please try again in a minute.</p>',
  )
}
