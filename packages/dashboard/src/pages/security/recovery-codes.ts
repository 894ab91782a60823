import { html } from '@postrider/ui'
import { type Answer, page } from '../../frame/answer.ts'
import type { UserCall } from '../../frame/call.ts'
import { pageHead } from '../../frame/parts.ts'
import { securityWords } from './security-words.ts'

/** The page with new recovery codes, which is the only one that shows them. */
export function recoveryCodes({ icon, language }: UserCall, codes: readonly string[]): Answer {
  const words = securityWords(language)
  const text = codes.join('\n')
  return page({
    title: words.recoveryTitle,
    crumbs: [[words.title, '/app/security']],
    body: html`${pageHead(words.recoveryTitle, words.recoveryLead)}<div class="code"><pre>${text}</pre>
      <button class="btn s copy" type="button" data-copy="${text}">${icon('copy')}${words.copyCodes}</button></div>
<div class="row"><a class="btn main" href="/app/security">${words.stored}</a></div>`,
  })
}
