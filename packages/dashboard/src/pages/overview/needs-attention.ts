import type { Domain, ShownHold } from '@postrider/core'
import { type Html, html } from '@postrider/ui'
import type { AccountCall } from '../../frame/call.ts'
import { overviewWords } from './overview-words.ts'

/** Domains whose records are wrong, and holds. */
export function needsAttention(
  { language, icon, path }: AccountCall,
  domains: readonly Domain[],
  holds: readonly ShownHold[],
): Html {
  const words = overviewWords(language)
  const count = domains.length + holds.length
  if (count === 0)
    return html`<header><h2>${words.needs}</h2></header><div class="void">${icon('check', 'good')}<p>${words.allWell}</p></div>`
  return html`<header><h2>${words.needs}</h2><span class="badge wait push">${count}</span></header><ul class="list">
${holds.map(
  ({ level, rule }) =>
    html`<li>${icon('warn', level === 'held' ? 'bad' : 'wait')}<div><b>${words.holdTitle(level)}</b><p>${words.holdText(rule)}</p></div></li>`,
)}${domains.map(({ name, brokenSince }) => {
  const [title, text] = brokenSince ? [words.broken(name), words.brokenText] : [words.pending(name), words.pendingText]
  return html`<li>${icon('globe', brokenSince ? 'bad' : 'wait')}<div><a class="go" href="${path(`domains/${name}`)}">${title}</a><p>${text}</p></div></li>`
})}</ul>`
}
