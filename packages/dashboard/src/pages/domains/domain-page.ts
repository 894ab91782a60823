import {
  type DnsRecord,
  type DomainRequirements,
  type DomainWithRecords,
  dnsHostOf,
  quotedStrings,
} from '@postrider/core'
import { type Html, html, type Value } from '@postrider/ui'
import { type Answer, page } from '../../frame/answer.ts'
import type { AccountCall } from '../../frame/call.ts'
import { actButton, ask, byApi, copyable, pageHead } from '../../frame/parts.ts'
import { dnsHostWords } from './dns-host-words.ts'
import { domainState } from './domain-state.ts'
import { domainsWords } from './domains-words.ts'
import { receiverTable } from './receiver-table.ts'

/** Facts on the page of a domain, in addition to its records. */
export interface DomainFacts {
  readonly requirements: DomainRequirements
  /** Hosts of the name servers of its zone, as the last check found them. */
  readonly nameServers: readonly string[]
}

/** One domain: what is still to do and where, each record with what was found, and the demands of large receivers. */
export function domainPage(
  call: AccountCall,
  domain: DomainWithRecords,
  { nameServers, requirements }: DomainFacts,
): Answer {
  const { icon, language, may, path } = call
  const words = domainsWords(language)
  const { name, dns, ed25519 } = domain
  const remove = ask({
    language: call.language,
    id: 'remove',
    button: words.remove,
    title: words.removeTitle(name),
    text: words.removeText,
    action: path(`domains/${name}/remove`),
  })
  const sign = path(`domains/${name}/ed25519`)
  const signing = ed25519
    ? ask({
        language: call.language,
        id: 'ed25519',
        button: words.ed25519Off,
        title: words.ed25519Title,
        text: words.ed25519Text,
        action: sign,
      })
    : actButton(words.ed25519On, sign, html`<input type="hidden" name="ed25519" value="on">`)
  const buttons = html`<a class="btn" href="${path(`domains/${name}/zone`)}">${icon('download')}${words.zone}</a>
    ${
      may('domains') &&
      html`<form method="post" action="${path(`domains/${name}/check`)}"><button class="btn main" type="submit">${icon('retry')}
    ${words.check}</button></form>`
    }`
  return page({
    title: name,
    live: 'clock',
    crumbs: [[words.title, path('domains')]],
    body: html`${pageHead(html`${name} ${domainState(call, domain)}`, lead(call, domain), buttons)}
${provisionalNote(call, dns)}${whereNote(call, domain, nameServers)}
<ul class="box recs">${dns.map((record) => recordItem(call, record))}</ul>
${receiverTable(call, requirements)}
${may('domains') && html`<div class="row">${actButton(words.rotate, path(`domains/${name}/rotate`))}${signing}${remove}</div>`}
${byApi(call, { method: 'POST', path: '/v2/domain/verify', body: { domain: name } })}`,
  })
}

/** Records that name a host which will change are published in vain. */
function provisionalNote({ icon, language }: AccountCall, dns: readonly DnsRecord[]): Value {
  const words = domainsWords(language)
  const some = dns.filter(({ provisional }) => provisional)
  const host = some.find(({ type }) => type === 'CNAME')?.value ?? ''
  return (
    some.length > 0 &&
    html`<div class="note wait">${icon('warn', 'wait')}<div><b>${words.provisional(host)}</b><p>${words.provisionalText}</p></div></div>`
  )
}

/** Where the missing records are entered. */
function whereNote(
  { icon, language }: AccountCall,
  { name, dns }: DomainWithRecords,
  nameServers: readonly string[],
): Value {
  if (nameServers.length === 0 || dns.every(({ verified }) => verified)) return null
  const words = dnsHostWords(language)
  const host = dnsHostOf(nameServers)
  const [title, text] = host
    ? [words.title(host.name), words.where[host.id]]
    : [words.unknown(nameServers.slice(0, 2).join(', ')), '']
  return html`<div class="note">${icon('globe')}<div><b>${title}</b><p>${text} ${words.appended(name)}</p></div></div>`
}

function lead({ language }: AccountCall, { state, brokenSince, dns }: DomainWithRecords): string {
  const words = domainsWords(language)
  if (state === 'rejected') return words.rejected
  if (brokenSince) return words.broken
  const missing = dns.filter(({ required, verified }) => required && !verified).length
  if (missing === 0) return words.allRight
  return state === 'active' ? words.activeWithout(missing) : words.toAdd(missing)
}

const SIGNS = {
  unchecked: ['clock', 'idle'],
  right: ['s-delivered', 'good'],
  wrong: ['s-bounced', 'bad'],
  missing: ['s-missing', 'wait'],
} as const

function recordItem(call: AccountCall, record: DnsRecord): Html {
  const { icon, language } = call
  const words = domainsWords(language)
  const { type, host, value, purpose, state, required, fault, found = [], problem, key, algorithm, strings } = record
  const [sign, tone] = SIGNS[state]
  return html`<li class="rec"><details${state !== 'right' && required && html` open`}><summary>${icon('right')}<h2>${words.purposes[purpose]}${
    algorithm === 'ed25519' && ' (Ed25519)'
  }</h2>
    <span class="state ${tone}">${icon(sign, tone)}<span>${words.found[state]}</span></span><code class="cut dim">${type} ${host}</code>
    <span class="hint">${required ? words.required : words.advised}</span></summary>
<dl class="dl"><dt>${words.type}</dt><dd>${type}</dd><dt>${words.host}</dt><dd>${copyable(call, host, words.host)}</dd><dt>${words.value}</dt><dd>
  ${copyable(call, value, words.value)}</dd>${
    strings &&
    html`<dt>${words.strings}</dt><dd>${copyable(call, quotedStrings(value), words.strings)}<p class="hint">${words.stringsHint}</p></dd>`
  }${key && html`<dt>${words.key}</dt><dd>${words.keys[key]}</dd>`}${
    found.length > 0 &&
    html`<dt>${words.foundInstead}</dt><dd>${found.slice(0, 10).map(
      (text) => html`<code class="any bad">${text.slice(0, 500)}
    </code> `,
    )}</dd>`
  }${problem !== undefined && html`<dt>${words.problem}</dt><dd>${fault ? words.faults[fault] : problem}</dd>`}</dl></details></li>`
}
