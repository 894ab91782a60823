import { type Html, html, type Language, type Value } from '@postrider/ui'
import { ACCOUNT_SECTIONS, ACTS } from './navigation.ts'
import { mayIn, type VisitedAccount } from './visitor.ts'
import { frameWords } from './words/frame-words.ts'

interface PaletteOptions {
  readonly home?: VisitedAccount | undefined
  readonly language: Language
}

/**
 * The way to every page, message and action by a few letters (Ctrl K). Its script takes the pages from the sidebar, which has them already; here is
 * only what the sidebar has not. Without script, it cannot be opened, and nothing needs it.
 */
export function palette({ home, language }: PaletteOptions): Html {
  const words = frameWords(language)
  const action = home && mayIn(home, 'events') ? `/app/${home.id}/messages` : '/app'
  return html`<dialog id="palette" class="pal" aria-label="${words.jump}"><form method="get" action="${action}">
<input class="in" id="palette-q" name="q" type="text" role="combobox" aria-expanded="true" aria-controls="palette-list" aria-autocomplete="list"
  autocomplete="off" spellcheck="false" maxlength="320" placeholder="${words.jumpPlaceholder}" aria-label="${words.jump}"></form>
<ul class="stack xs" id="palette-list" role="listbox" aria-label="${words.jump}"></ul>
<div hidden>${home && links(home, words)}</div></dialog>`
}

function links(home: VisitedAccount, words: ReturnType<typeof frameWords>): Value {
  const path = (below: string) => `/app/${home.id}/${below}`
  const linked = ACCOUNT_SECTIONS.flatMap(({ entries }) => entries).filter(
    ({ isLinked, right }) => isLinked && (right === null || mayIn(home, right)),
  )
  const hasMessages = mayIn(home, 'events')
  return html`${linked.map(({ name, path: at, key }) => html`<a href="${path(at)}" data-key="${key ?? ''}">${words[name]}</a>`)}
${ACTS.filter(({ right }) => mayIn(home, right)).map(({ name, path: at }) => html`<a href="${path(at)}">${words.acts[name]}</a>`)}
${
  hasMessages &&
  html`<a href="${path('messages')}?q=" data-finds="${words.findMessages('{}')}" data-shows="${words.showMessage('{}')}"></a>`
}`
}
