import type { SessionSummary } from '@postrider/core'
import { foreign, type Html, html, type Value } from '@postrider/ui'
import type { UserCall } from '../../frame/call.ts'
import { actButton, ask } from '../../frame/parts.ts'
import { securityWords } from './security-words.ts'

/** Where the visitor is logged in, and the ways to end that. */
export function sessionList(call: UserCall, sessions: readonly SessionSummary[]): Html {
  const { format, language, visitor } = call
  const words = securityWords(language)
  const others = sessions.some(({ id }) => id !== visitor.sessionId)
  return html`<section class="box"><header><h2>${words.sessions}</h2>${
    others &&
    html`<span class="push">
    ${actButton(words.endOthers, '/app/security/sessions/end-others')}</span>`
  }</header>
<div class="scroll" tabindex="0" role="region" aria-label="${words.sessions}"><table><thead><tr><th>${words.device}</th><th class="wide-only">
  ${words.method}</th><th class="n wide-only">${words.since}</th><th class="n wide-only">${words.seen}</th><th><span class="sr">${words.actions}
  </span></th></tr></thead><tbody>${sessions.map(
    (session) =>
      html`<tr><td>${device(call, session.agent)}<small class="mono">${session.address}</small></td><td class="wide-only dim">
        ${words.methods[session.method]}</td><td class="n wide-only faint">${format.time(session.createdAt)}</td><td class="n wide-only faint">
        ${format.ago(session.seenAt)}</td><td class="n">${end(call, session)}</td></tr>`,
  )}</tbody></table></div><footer>${words.sessionsText}</footer></section>`
}

function end({ language, visitor }: UserCall, { id }: SessionSummary): Html {
  const words = securityWords(language)
  if (id === visitor.sessionId) return html`<span class="badge good">${words.thisOne}</span>`
  return ask({
    language,
    id: `end-${id}`,
    button: words.end,
    title: words.endTitle,
    text: words.endText,
    action: `/app/security/sessions/${id}/end`,
  })
}

/** Names of browsers and systems, and the sign of each in User-Agent; the first that is there counts. */
const BROWSERS: readonly (readonly [name: string, sign: string])[] = [
  ['Edge', 'Edg/'],
  ['Opera', 'OPR/'],
  ['Firefox', 'Firefox/'],
  ['Chrome', 'Chrome/'],
  ['Safari', 'Safari/'],
]
const SYSTEMS: readonly (readonly [name: string, sign: string])[] = [
  ['iPhone', 'iPhone'],
  ['iPad', 'iPad'],
  ['Android', 'Android'],
  ['Windows', 'Windows'],
  ['macOS', 'Mac OS X'],
  ['Linux', 'Linux'],
]

/** "Firefox on Linux", with the whole text in the title; another program's own text. */
function device({ language }: UserCall, agent: string | null): Value {
  const words = securityWords(language)
  if (!agent) return words.unknownAgent
  const [browser] = BROWSERS.find(([, sign]) => agent.includes(sign)) ?? []
  const [system] = SYSTEMS.find(([, sign]) => agent.includes(sign)) ?? []
  if (browser === undefined) return html`<span class="any">${foreign(agent)}</span>`
  return html`<span title="${agent}">${system === undefined ? browser : words.on(browser, system)}</span>`
}
