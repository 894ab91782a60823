import { singleMessage } from '@postrider/core'
import { attempt } from '../../frame/attempt.ts'
import type { AccountCall } from '../../frame/call.ts'
import { trialOf } from '../../frame/trial.ts'
import type { Preview } from './preview.ts'
import { templatesWords } from './templates-words.ts'

type SentTest = { readonly ok: true } | { readonly ok: false; readonly problem: string }

/** Sends a rendered template to the visitor's own address, from the first active domain of the account, as any call of the API would. */
export async function sendTest(call: AccountCall, { subject, html, text }: Preview): Promise<SentTest> {
  const { core, account: own, address, language, visitor } = call
  const words = templatesWords(language)
  const refuse = (problem: string) => ({ ok: false, problem }) as const
  const principal = await core.people.principal(visitor, own.id)
  const { domains } = await core.domains.page(own.id, { status: '1', limit: 1, offset: 0 })
  const trial = await trialOf(call)
  const to = trial?.to ?? visitor.user.email
  const sender = domains[0] ? `test@${domains[0].name}` : trial?.from
  if (!principal || to === null) return refuse(words.noAddress)
  if (sender === undefined) return refuse(words.noDomain)
  const from = { email: sender, name: own.name }
  return attempt(() =>
    core.messages.accept({
      ...singleMessage({ door: 'v2', principal, clientAddress: address, from, to }),
      subject: subject === '' ? words.testSubject : subject,
      content: { kind: 'parts', html: html || undefined, text: text || undefined, amp: undefined },
      tags: ['test'],
      // It is rendered already.
      literal: true,
    }),
  )
}
