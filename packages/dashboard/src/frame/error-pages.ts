import { databaseRefusal, ServiceError } from '@postrider/core'
import { html } from '@postrider/ui'
import { type PageAnswer, page } from './answer.ts'
import { WorkRefused } from './forms/large-work.ts'
import type { Surroundings } from './layout.ts'
import { problemText } from './words/error-words.ts'
import { frameWords } from './words/frame-words.ts'

interface Failure {
  readonly status: number
  readonly title: string
  readonly text: string
  /** Id of the request, which the log has, too. */
  readonly id?: string | undefined
}

/** Returns the page of an error: what happened, what is safe, and what to do. */
export function errorPage(error: unknown, around: Pick<Surroundings, 'language' | 'icon'>, id: string): PageAnswer {
  const words = frameWords(around.language)
  if (error instanceof ServiceError && isAbsent(error)) return notFound(around)
  const refused = refusalOf(error)
  if (refused && refused.status < 500)
    return failurePage(
      { status: refused.status, title: words.invalid, text: problemText(around.language, refused.text) },
      around,
    )
  if (refused?.status === 503) return failurePage({ status: 503, title: words.down, text: words.downText, id }, around)
  const { statusCode } = (error ?? {}) as { readonly statusCode?: unknown }
  // A form that is too large or no form, or a URL that cannot be decoded.
  if (typeof statusCode === 'number' && statusCode >= 400 && statusCode < 500)
    return failurePage({ status: statusCode, title: words.invalid, text: words.notAForm }, around)
  // The database is down, restarts, cannot be found, or did not respond in time.
  if (databaseRefusal(error)) return failurePage({ status: 503, title: words.down, text: words.downText, id }, around)
  return failurePage({ status: 500, title: words.failed, text: words.failedText, id }, around)
}

function refusalOf(error: unknown): { readonly status: number; readonly text: string } | undefined {
  if (error instanceof ServiceError) return { status: error.row.status, text: error.message }
  return error instanceof WorkRefused ? { status: error.status, text: error.message } : undefined
}

/** Whether what a path names is not there. For fields of calls, the contract of the APIs has other statuses for some of these errors. */
function isAbsent({ errorName: name }: ServiceError): boolean {
  return name.endsWith('Unknown') || name.endsWith('NotFound') || name === 'domainInvalid'
}

/** The answer to the id of something that does not exist, or belongs to others. */
export function notFound(call: Pick<Surroundings, 'language' | 'icon'>): PageAnswer {
  const words = frameWords(call.language)
  return failurePage({ status: 404, title: words.notFound, text: words.notFoundText }, call)
}

export function failurePage(
  { status, title, text, id }: Failure,
  { language, icon }: Pick<Surroundings, 'language' | 'icon'>,
): PageAnswer {
  const words = frameWords(language)
  return page({
    status,
    title,
    body: html`<section class="box void">${icon(status < 500 ? 'info' : 'warn')}<h1>${title}</h1><p>${text}</p>
<div class="row"><a class="btn main" href="/app">${words.toOverview}</a></div>${
      id && html`<p class="hint">${words.errorId}: <code>${id}</code></p>`
    }</section>`,
  })
}
