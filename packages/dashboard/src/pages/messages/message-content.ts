import { ServiceError } from '@postrider/core'
import { type Answer, file } from '../../frame/answer.ts'
import { type AccountCall, field } from '../../frame/call.ts'
import { contentHeaders } from '../../frame/policy.ts'

/** The HTML of a message as a document of its own, which has no origin, runs nothing and loads no image unless it was requested. */
export async function messageHtml(call: AccountCall): Promise<Answer> {
  const { html } = await call.core.messages.body(copyOf(call))
  if (!html) throw new ServiceError('messageNotFound')
  const images = field(call.query, 'images') === '1'
  return file({ type: 'text/html; charset=utf-8', body: html.text, headers: contentHeaders(images) })
}

/** The whole MIME message, to be stored as a file. */
export async function messageSource(call: AccountCall): Promise<Answer> {
  const body = await call.core.messages.source(copyOf(call))
  const name = `attachment; filename="${call.params.message?.replace(/[^0-9a-f]/g, '')}.eml"`
  return file({ type: 'message/rfc822', body, headers: { ...contentHeaders(false), 'content-disposition': name } })
}

/** An attachment, always as a file: no content of others is shown under this origin. */
export async function messageFile(call: AccountCall): Promise<Answer> {
  const index = Number(call.params.index)
  if (!Number.isSafeInteger(index)) throw new ServiceError('messageNotFound')
  const { fileName, content } = await call.core.messages.attachment({ ...copyOf(call), index })
  const name = encodeURIComponent((fileName ?? 'attachment').toWellFormed()).replace(/['()*]/g, escape)
  return file({
    type: 'application/octet-stream',
    body: Buffer.from(content),
    headers: { ...contentHeaders(false), 'content-disposition': `attachment; filename*=UTF-8''${name}` },
  })
}

function copyOf({ account, params, query, written }: AccountCall) {
  const to = field(query, 'to')
  const recipientNo = /^\d{1,7}$/.test(to) ? Number(to) : undefined
  return { accountId: account.id, messageId: params.message as string, recipientNo, held: written() }
}
