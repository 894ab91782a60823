import {
  type ContentCheck,
  type ContentCheckState,
  checkContent,
  type DomainWithRecords,
  type MessageDetails,
  ServiceError,
  type ShownBody,
} from '@postrider/core'
import { foreign, type Html, html, type IconName, type Tone, type Value } from '@postrider/ui'
import type { AccountCall } from '../../frame/call.ts'
import { checkWords } from './check-words.ts'

interface Judged {
  readonly name: 'dkim' | 'spf' | 'dmarc'
  readonly state: ContentCheckState
  readonly text: string
}

const SIGNS: Readonly<Record<ContentCheckState, readonly [IconName, Tone]>> = {
  good: ['s-delivered', 'good'],
  hint: ['info', 'wait'],
  bad: ['s-bounced', 'bad'],
  unneeded: ['s-dropped', 'idle'],
}

/** The judgement of a receiver, and properties that readers or filters may not like. The records are those of the last check of the domain. */
export async function checks(call: AccountCall, details: MessageDetails, body: ShownBody): Promise<Html> {
  const { format, icon, language } = call
  const words = checkWords(language)
  const domain = await domainOf(call, details.from)
  const judged = domain ? authentication(call, domain) : []
  const settings = (details.settings ?? {}) as { readonly class?: string }
  const content = checkContent({
    html: body.html?.text,
    text: body.text?.text,
    htmlSize: body.html?.size ?? 0,
    size: body.source.size,
    subject: details.subject,
    headers: body.headers,
    isBulk: settings.class === 'bulk',
  })
  const row = (name: keyof typeof words.names, state: ContentCheckState, text: Value) => {
    const [sign, tone] = SIGNS[state]
    return html`<tr><th scope="row">${words.names[name]}</th><td><span class="state ${tone}">${icon(sign, tone)}<span>${words.states[state]}</span></span>
    </td><td class="any dim">${text}</td></tr>`
  }
  const checkedAt = domain?.checkedAt
  return html`<div class="scroll" tabindex="0" role="region" aria-label="${words.check}"><table><thead><tr><th>${words.check}</th><th>${words.result}</th>
    <th></th></tr></thead><tbody>${judged.map(({ name, state, text }) => row(name, state, text))}${content.map((one) =>
      row(one.name, one.state, contentText(call, one)),
    )}</tbody></table></div><footer>${domain ? checkedAt && words.asOf(format.plainTime(checkedAt)) : words.unknownDomain}</footer>`
}

/** The domain of the sender, if it is the account's. */
async function domainOf({ account, core }: AccountCall, from: string): Promise<DomainWithRecords | undefined> {
  try {
    return await core.domains.show(from.slice(from.lastIndexOf('@') + 1), account.id)
  } catch (error) {
    if (error instanceof ServiceError && error.row.status < 500) return undefined
    throw error
  }
}

/** RFC 7489 3: DMARC passes if SPF or DKIM passes for a domain that is aligned with From. The signature is always that of the domain in From. */
function authentication({ language }: AccountCall, { dns, name, returnPathHost }: DomainWithRecords): Judged[] {
  const words = checkWords(language)
  const isRight = (purpose: string) =>
    dns.some((one) => one.purpose === purpose && one.state === 'right' && (one.key ?? 'active') === 'active')
  const dkim = isRight('dkim')
  const aligned = returnPathHost !== null
  const isPassed = dkim || aligned
  const dmarc = !isPassed ? 'bad' : isRight('dmarc') ? 'good' : 'hint'
  const texts = { good: words.dmarcGood, hint: words.dmarcNone, bad: words.dmarcBad }
  return [
    { name: 'dkim', state: dkim ? 'good' : 'bad', text: dkim ? words.dkimGood(name) : words.dkimBad(name) },
    aligned
      ? { name: 'spf', state: 'good', text: words.spfAligned(returnPathHost) }
      : { name: 'spf', state: dkim ? 'unneeded' : 'hint', text: words.spfOther },
    { name: 'dmarc', state: dmarc, text: texts[dmarc] },
  ]
}

function contentText({ format, language }: AccountCall, { name, state, count, found }: ContentCheck): Value {
  const words = checkWords(language)
  if (name === 'clipping' || name === 'size') {
    const size = format.size(count)
    if (state === 'good') return count > 0 ? size : null
    return name === 'clipping' ? words.clipped(size) : words.large(size)
  }
  if (state !== 'good' && name === 'text-part') return words.noText
  if (state === 'bad' && name === 'one-click') return words.noOneClick
  if (count === 0) return null
  return html`${words.times(format.number(count))} ${found.map((one, at) => html`${at > 0 && ', '}${foreign(one.slice(0, 200))}`)}`
}
