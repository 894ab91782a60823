import { type Core, isDatabaseTrouble, ServiceError, type TrackingTarget } from '@postrider/core'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { escapeHtml, sendPage, sendWord } from './answers.ts'
import { saysOneClick } from './one-click.ts'
import { readerOf, within } from './reader.ts'

/** Milliseconds the page waits to be told the sender's name; it can do without. */
const NAME_WITHIN = 2000
/** Milliseconds before somebody is asked to try again. */
const DONE_WITHIN = 10_000

/** What is shown to somebody who follows an unsubscribe link: nothing happens by that alone, since machines follow links too. */
export async function askUnsubscribe(core: Core, target: TrackingTarget, reply: FastifyReply): Promise<FastifyReply> {
  const sender = await within(NAME_WITHIN, core.tracking.senderOf(target)).catch(() => undefined)
  const from = sender ? ` from <strong>${escapeHtml(sender.domain)}</strong>` : ' from this sender'
  const what = target.group > 0 ? 'mail of this kind' : 'mail'
  return sendPage(
    reply,
    200,
    'Unsubscribe',
    `<p>Do you want to get no more ${what}${from}?</p><form method="post">` +
      '<input type="hidden" name="List-Unsubscribe" value="One-Click"><button type="submit">Unsubscribe</button></form>',
  )
}

/** Unsubscribes: one click in a mail program (RFC 8058), or the button of the page. */
export async function unsubscribe(
  core: Core,
  target: TrackingTarget,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  if (!saysOneClick(request.body)) return sendWord(reply, 400, 'Bad request')
  try {
    const became = await within(DONE_WITHIN, core.tracking.unsubscribe(target, readerOf(request)))
    if (became === 'done') {
      const what = target.group > 0 ? 'mail of this kind' : 'mail'
      return sendPage(
        reply,
        200,
        'You are unsubscribed',
        `<p>You will get no more ${what} from this sender. If you want it again, ask the sender.</p>`,
      )
    }
    if (became === 'unknown') {
      return sendPage(
        reply,
        410,
        'This link is too old',
        '<p>The message it belongs to is no longer kept here, so nothing could be changed. Please write to the sender.</p>',
      )
    }
  } catch (error) {
    if (!(error instanceof ServiceError) && !isDatabaseTrouble(error)) throw error
    request.log.warn({ err: error }, 'somebody could not be unsubscribed now')
  }
  return sendPage(
    reply.header('retry-after', '60'),
    503,
    'Not now',
    '<p>You could not be unsubscribed just now. Please try again in a minute.</p>',
  )
}
