import {
  type Core,
  isDatabaseTrouble,
  type ReaderView,
  ServiceError,
  type TrackingTarget,
  type Unsubscribed,
  within,
} from '@postrider/core'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { sendPage, sendWord } from './answers.ts'
import { isOneClick } from './one-click.ts'
import { readerOf } from './reader.ts'
import { readerLanguage } from './reader-language.ts'
import {
  backPage,
  failurePage,
  leftPage,
  preferencesPage,
  type ReaderPage,
  savedPage,
  unsubscribePage,
} from './reader-pages.ts'

/** Milliseconds the page waits for what it shows of the message. */
const VIEW_TIMEOUT_MS = 2000
/** Milliseconds until the recipient is asked to try again. */
const CHANGE_TIMEOUT_MS = 10_000

/** A request of a recipient for one of the two pages. */
export interface ReaderCall {
  readonly core: Core
  readonly target: TrackingTarget
  readonly request: FastifyRequest
  readonly reply: FastifyReply
}

/** Shows the page of an unsubscribe link. Opening the link has no effect, since machines follow links too. */
export async function askUnsubscribe(call: ReaderCall): Promise<FastifyReply> {
  return sendPage(call.reply, 200, await unsubscribePage(await pageOf(call)))
}

/** Shows the preferences page; that of an unsubscribe link if there are no groups to choose from. Opening it has no effect either. */
export async function askPreferences(call: ReaderCall): Promise<FastifyReply> {
  return sendPage(call.reply, 200, await choicePage(await pageOf(call), false))
}

/**
 * Unsubscribes the recipient: one click in a mail client (RFC 8058), or the button of the page. The button of the page that confirms it takes it
 * back.
 */
export async function unsubscribe(call: ReaderCall): Promise<FastifyReply> {
  const { core, target, request, reply } = call
  if (isOneClick(request.body)) {
    return change(call, core.tracking.unsubscribe(target, readerOf(request)), async (page) => leftPage(page))
  }
  const action = formOf(request).get('do')
  if (action === 'again' || action === 'again-all') return subscribeAgain(call, action === 'again' ? target.group : 0)
  return sendWord(reply, 400, 'Bad request')
}

/** Saves what the recipient chose on the preferences page. */
export async function setPreferences(call: ReaderCall): Promise<FastifyReply> {
  const { core, target, request, reply } = call
  const form = formOf(request)
  const action = form.get('do')
  if (action === 'save') {
    const choice = { shown: numbersIn((form.get('shown') ?? '').split(',')), wanted: numbersIn(form.getAll('group')) }
    return change(call, core.tracking.choose(target, choice, readerOf(request)), (page) => choicePage(page, true))
  }
  if (action === 'leave' || isOneClick(request.body)) {
    // Without groups this page asks the question of the unsubscribe page, whose answer is for the link's group.
    const group = action === 'leave' ? 0 : target.group
    const leaving = core.tracking.unsubscribe({ ...target, group }, readerOf(request))
    return change(call, leaving, (page) => leftPage({ ...page, isOfGroup: group > 0 }))
  }
  if (action === 'again' || action === 'again-all') return subscribeAgain(call, action === 'again' ? target.group : 0)
  return sendWord(reply, 400, 'Bad request')
}

function subscribeAgain(call: ReaderCall, group: number): Promise<FastifyReply> {
  const { core, target, request } = call
  return change(call, core.tracking.resubscribe(target, group, readerOf(request)), async (page) => {
    const { view, isOfGroup } = page
    // An entry that only the sender can remove, or one for more mail than this, is still there.
    return view?.left || (isOfGroup && group > 0 && view?.groupLeft) ? leftPage(page) : backPage(page)
  })
}

/** Sends the page of a change once it is stored; otherwise says that it is not. */
async function change(
  call: ReaderCall,
  changing: Promise<Unsubscribed>,
  pageAfter: (page: ReaderPage) => Promise<string>,
): Promise<FastifyReply> {
  const { request, reply } = call
  const language = readerLanguage(request)
  try {
    const result = await within(CHANGE_TIMEOUT_MS, changing)
    if (result === 'done') return sendPage(reply, 200, await pageAfter(await pageOf(call)))
    if (result === 'unknown') return sendPage(reply, 410, await failurePage(language, 'expired'))
  } catch (error) {
    if (!(error instanceof ServiceError) && !isDatabaseTrouble(error)) throw error
    request.log.warn({ err: error }, 'could not process unsubscribe request')
  }
  return sendPage(reply.header('retry-after', '60'), 503, await failurePage(language, 'busy'))
}

async function choicePage(page: ReaderPage, isSaved: boolean): Promise<string> {
  const { view } = page
  if (view !== null && view.groups.length > 0) return preferencesPage({ ...page, view }, isSaved)
  return isSaved ? savedPage(page) : unsubscribePage(page)
}

async function pageOf({ core, target, request }: ReaderCall): Promise<ReaderPage> {
  const view = await within<ReaderView | null>(VIEW_TIMEOUT_MS, core.tracking.view(target)).catch(() => null)
  return {
    language: readerLanguage(request),
    view: view ?? null,
    isOfGroup: target.group > 0,
    other: core.tracking.tokenFor('preferences', target),
  }
}

function formOf({ body }: FastifyRequest): URLSearchParams {
  return new URLSearchParams(typeof body === 'string' ? body : '')
}

/** The numbers of groups among these texts; the size of the form bounds how many there are. */
function numbersIn(texts: readonly string[]): number[] {
  return texts.filter((text) => /^[1-9]\d{0,9}$/.test(text)).map(Number)
}
