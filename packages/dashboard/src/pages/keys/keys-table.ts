import type { ApiKey } from '@postrider/core'
import { foreign, type Html, html, type Value } from '@postrider/ui'
import type { AccountCall } from '../../frame/call.ts'
import { actButton, ask } from '../../frame/parts.ts'
import { keysWords } from './keys-words.ts'
import { scopeWords } from './scope-words.ts'

/** The keys of an account. `fresh`: id of the one that was made just now. */
export function keysTable(call: AccountCall, keys: readonly ApiKey[], fresh: number | undefined): Html {
  const { format, language } = call
  const words = keysWords(language)
  return html`<div class="scroll" tabindex="0" role="region" aria-label="${words.title}"><table><thead><tr><th>${words.name}</th><th class="wide-only">
    ${words.may}</th><th class="wide-only">${words.only}</th><th>${words.state}</th><th class="n wide-only">${words.created}</th>
    <th class="n wide-only">${words.lastUsed}</th><th><span class="sr">${words.actions}</span></th></tr></thead><tbody>${keys.map(
      (key) =>
        html`<tr><td><b>${foreign(key.name)}</b>${key.id === fresh && html` <span class="badge good">✓</span>`}<small class="mono">
        ${key.prefix}…</small><small class="narrow">${permissions(call, key)}</small></td><td class="wide-only">${permissions(call, key)}</td>
        <td class="wide-only dim">${restrictions(call, key)}</td><td>${state(call, key)}</td>
        <td class="n wide-only faint">${format.time(key.createdAt)}</td><td class="n wide-only faint">${
          key.lastUsedAt ? format.ago(key.lastUsedAt) : words.never
        }</td><td class="n">${key.revokedAt === null && call.may('keys') && actions(call, key)}</td></tr>`,
    )}</tbody></table></div>`
}

function permissions({ icon, language }: AccountCall, { scopes, v3Rights }: ApiKey): Html {
  const { names } = scopeWords(language)
  if (!scopes.includes('all'))
    return html`<span class="any">${(v3Rights ?? scopes.map((scope) => names[scope])).join(', ')}</span>`
  return html`<span class="state wait">${icon('warn', 'wait')}<span>${keysWords(language).everything}</span></span>`
}

function restrictions({ format, language }: AccountCall, { networks, restrictions }: ApiKey): Value {
  const words = keysWords(language)
  const {
    class: of,
    senderDomains,
    recipientDomains,
    recipientsPerHour,
    callsPerMinute,
    templates,
    keepContent,
  } = restrictions
  const parts = [
    ...networks,
    ...(senderDomains ? [words.from(senderDomains.join(', '))] : []),
    ...(recipientDomains ? [words.to(recipientDomains.join(', '))] : []),
    ...(templates ? [words.withTemplates(templates.join(', '))] : []),
    ...(recipientsPerHour ? [words.perHour(format.number(recipientsPerHour))] : []),
    ...(callsPerMinute ? [words.callsPerMinute(format.number(callsPerMinute))] : []),
    ...(of ? [words.ofClass(words.classes[of])] : []),
    ...(keepContent === false ? [words.contentNotKept] : []),
  ]
  return parts.length === 0 ? html`<span class="faint">${words.noLimits}</span>` : parts.join(', ')
}

function state({ format, icon, language }: AccountCall, { revokedAt, expired, restrictions: { until } }: ApiKey): Html {
  const words = keysWords(language)
  if (revokedAt) return html`<span class="state idle">${icon('x', 'idle')}<span>${words.revoked}</span></span>`
  if (expired) return html`<span class="state idle">${icon('clock', 'idle')}<span>${words.expired}</span></span>`
  if (until) return html`<span class="badge wait">${words.endsAt(format.plainTime(until))}</span>`
  return html`<span class="state good">${icon('check', 'good')}<span>${words.active}</span></span>`
}

function actions({ language, path }: AccountCall, { id, name, replacedBy }: ApiKey): Html {
  const words = keysWords(language)
  const revoke = ask({
    language,
    id: `revoke-${id}`,
    button: words.revoke,
    title: words.revokeTitle(name),
    text: words.revokeText,
    action: path(`keys/${id}/revoke`),
  })
  return html`<span class="acts">${replacedBy === null && actButton(words.rotate, path(`keys/${id}/rotate`))}${revoke}</span>`
}
