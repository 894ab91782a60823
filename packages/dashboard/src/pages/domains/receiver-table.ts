import type { DomainRequirements, ReceiverRequirements, Requirement, RequirementName } from '@postrider/core'
import { type Html, html, type Value } from '@postrider/ui'
import type { AccountCall } from '../../frame/call.ts'
import { receiverWords } from './receiver-words.ts'

const SIGNS = {
  right: ['s-delivered', 'good'],
  missing: ['s-bounced', 'bad'],
  unchecked: ['clock', 'idle'],
  unneeded: ['s-delivered', 'idle'],
} as const

/** A table of the demands of large receivers: a row for each demand, with its state at each receiver, and what to do if it is missing. */
export function receiverTable(call: AccountCall, { receivers, isHeld }: DomainRequirements): Html {
  const words = receiverWords(call.language)
  const names = [...new Set(receivers.flatMap(({ requirements }) => requirements.map(({ name }) => name)))]
  return html`<section class="box"><header><h2>${words.title}</h2><p>${words.lead}</p></header>${heldNote(call, isHeld)}
<div class="scroll" tabindex="0" role="region" aria-label="${words.title}"><table><thead><tr><th>${words.requirement}</th>${receivers.map(
    ({ label }) => html`<th>${label}</th>`,
  )}</tr></thead><tbody>${names.map((name) => row(call, name, receivers))}</tbody></table></div>
<p class="pad faint">${words.sources} ${receivers.flatMap(({ label, sources }) =>
    sources.map(({ address, read }) => html`<a href="${address}" rel="noreferrer">${label}</a> (${words.read(read)}) `),
  )}</p></section>`
}

function heldNote({ icon, language }: AccountCall, isHeld: boolean): Value {
  return isHeld && html`<div class="note wait">${icon('pause', 'wait')}<p>${receiverWords(language).held}</p></div>`
}

function row(call: AccountCall, name: RequirementName, receivers: readonly ReceiverRequirements[]): Html {
  const words = receiverWords(call.language)
  const found = receivers.map(({ requirements }) => requirements.find((one) => one.name === name))
  const notable = found.find((one) => one?.state === 'missing') ?? found.find((one) => one?.problem !== undefined)
  const isMissing = notable?.state === 'missing'
  return html`<tr><td>${words.names[name]}${isMissing && html`<p class="hint">${words.todo[name]}</p>`}${
    notable?.problem !== undefined && html`<p class="hint">${notable.problem}</p>`
  }</td>${found.map((one) => html`<td>${one && state(call, one)}</td>`)}</tr>`
}

function state({ icon, language }: AccountCall, { state }: Requirement): Value {
  const [sign, tone] = SIGNS[state]
  return html`<span class="state ${tone}">${icon(sign, tone)}<span>${receiverWords(language).states[state]}</span></span>`
}
