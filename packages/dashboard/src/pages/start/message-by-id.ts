import { html } from '@postrider/ui'
import { type Answer, page, redirect } from '../../frame/answer.ts'
import type { UserCall } from '../../frame/call.ts'
import { frameWords } from '../../frame/words/frame-words.ts'

const MESSAGE_ID = /^[0-9a-f]{32}$/
/** Accounts that are searched for a message. */
const MAX_ACCOUNTS = 50

/** From the id of a message to its page: the sandbox inbox knows the id, and not the account. */
export async function messageById({ core, params, visitor, language }: UserCall): Promise<Answer> {
  const id = params.id ?? ''
  const accounts = MESSAGE_ID.test(id) ? visitor.accounts.slice(0, MAX_ACCOUNTS) : []
  for (const { id: accountId } of accounts) {
    const found = await core.messages.show(id, { accountId, page: { fromRecipient: 0 } })
    if (found) return redirect(`/app/${accountId}/messages/${id}`)
  }
  const words = frameWords(language)
  return page({
    status: 404,
    title: words.notFound,
    body: html`<section class="box void"><h1 class="h2">${words.notFound}</h1><p>${words.notFoundText}</p></section>`,
  })
}
