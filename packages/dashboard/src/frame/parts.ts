import { type Html, html, type Value } from '@postrider/ui'
import type { Call } from './call.ts'
import { shellQuoted } from './shell-quoted.ts'
import { problemText } from './words/error-words.ts'
import { frameWords } from './words/frame-words.ts'

/** A button that copies a text. Without script, the text itself can be selected. */
export function copyButton({ icon, language }: Pick<Call, 'icon' | 'language'>, text: string, what: string): Html {
  return html`<button class="btn plain icon s" type="button" data-copy="${text}" aria-label="${frameWords(language).copy(what)}">${icon('copy')}</button>`
}

/** A value that people copy: an id, a host name. */
export function copyable(call: Pick<Call, 'icon' | 'language'>, text: string, what: string): Html {
  return html`<span class="val"><code class="cut">${text}</code>${copyButton(call, text, what)}</span>`
}

/** The call of the Web API, or of the operator's interface, that answers with what the page shows. */
export interface ApiCall {
  readonly method: 'GET' | 'POST' | 'PATCH' | 'DELETE'
  /** Path with its query, below the service's URL. */
  readonly path: string
  readonly body?: Readonly<Record<string, unknown>>
}

/** "Do this by API": the same by curl. The key is left out; only its owner knows it. */
export function byApi(call: Pick<Call, 'config' | 'icon' | 'language'>, ...calls: readonly ApiCall[]): Html {
  const { config, icon, language } = call
  const words = frameWords(language)
  return html`<details class="later"><summary class="q">${words.byApi}</summary><div class="stack s later">${calls.map(
    (one) => {
      const line = curl(config.publicUrl, one)
      return html`<div class="code"><pre>${line}</pre><button class="btn s copy" type="button" data-copy="${line}">${icon('copy')}${words.copy('')}
        </button></div>`
    },
  )}<p class="hint"><a href="/docs">${words.documentationOf}</a></p></div></details>`
}

function curl(publicUrl: string, { method, path, body }: ApiCall): string {
  const key = path.startsWith('/operator/') ? 'authorization: Bearer OPERATOR_KEY' : 'api_key: YOUR_KEY'
  const lines = [
    `curl -s ${method === 'GET' ? '' : `-X ${method} `}${shellQuoted(`${publicUrl}${path}`)} \\`,
    `  -H '${key}'`,
  ]
  if (!body) return lines.join('\n')
  return [
    ...lines.slice(0, 1),
    `  -H '${key}' \\`,
    "  -H 'content-type: application/json' \\",
    `  -d ${shellQuoted(JSON.stringify(body))}`,
  ].join('\n')
}

/** The beginning of each page: title, one sentence, and at most three buttons. */
export function pageHead(title: Value, lead: Value, buttons: Value = null): Html {
  return html`<header class="head"><div><h1>${title}</h1>${lead && html`<p class="lead">${lead}</p>`}</div><div class="row">${buttons}</div></header>`
}

/** Replaces an empty list: why it is empty, and the next step. */
export function emptyBox(
  { icon }: Pick<Call, 'icon'>,
  sign: Parameters<Call['icon']>[0],
  title: string,
  text: Value,
  next: Value = null,
): Html {
  return html`<section class="box void">${icon(sign)}<h2>${title}</h2><p>${text}</p><div class="row">${next}</div></section>`
}

/** A note above the page: what was refused. */
export function problemNote({ icon, language }: Pick<Call, 'icon' | 'language'>, problem: string | undefined): Value {
  return (
    problem !== undefined &&
    html`<div class="note bad" role="alert">${icon('warn', 'bad')}<p>${problemText(language, problem)}</p></div>`
  )
}

/**
 * Asks before something that has consequences: a button that opens the question, a dialog whose first button leaves all as it is. Without script, the
 * dialog is a popover, so no page of its own is needed.
 */
export function ask(question: {
  readonly language: Call['language']
  /** Unique on the page. */
  readonly id: string
  readonly button: string
  readonly title: string
  readonly text: string
  /** Path that the form is sent to. */
  readonly action: string
  /** Further fields of the form. */
  readonly fields?: Value
  /** Nothing is lost by it: its button is not red. */
  readonly isCalm?: boolean
}): Html {
  const { language, id, button, title, text, action, fields, isCalm } = question
  return html`<button class="btn s" type="button" popovertarget="${id}" data-opens="${id}">${button}</button><dialog class="ask" id="${id}" popover
    aria-labelledby="${id}-title"><form method="post" action="${action}"><h2 id="${id}-title">${title}</h2><p>${text}</p>${fields}<footer>
    <button class="btn" type="button" popovertarget="${id}" popovertargetaction="hide" data-closes autofocus>${frameWords(language).leave}</button>
    <button class="btn main${!isCalm && ' stop'}" type="submit">${button}</button></footer></form></dialog>`
}

/** A button that does something at once: a form of its own. */
export function actButton(label: Value, action: string, fields: Value = null): Html {
  return html`<form method="post" action="${action}">${fields}<button class="btn s" type="submit">${label}</button></form>`
}
