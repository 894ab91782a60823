import { type Html, html } from '@postrider/ui'
import type { Snippet } from './snippets.ts'

/** An example in all languages, of which the reader's is shown. `group`: unique on the page. */
export function languagesOf(snippets: readonly Snippet[], group: string): Html {
  return html`<div class="code langs"><fieldset><legend class="sr">Language of the example</legend>${snippets.map(
    ({ id, language }, at) =>
      html`<label class="small"><input type="radio" name="language-${group}" value="${id}" data-keeps="language"${at === 0 && html` checked`}>${language}
      </label>`,
  )}</fieldset>${snippets.map(
    ({
      id,
      code,
      language,
    }) => html`<pre class="l-${id}" id="${group}-${id}" tabindex="0" aria-label="${language}">${code}</pre>
    <button class="btn s copy l-${id}" type="button" data-copy-from="${group}-${id}" aria-label="Copy the example">Copy</button>`,
  )}</div>`
}
