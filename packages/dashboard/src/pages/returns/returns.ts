import { NO_EFFECT, parseMessageId, RETURN_KINDS, type StoredReturn } from '@postrider/core'
import { foreign, type Html, html, type Value } from '@postrider/ui'
import { type Answer, page } from '../../frame/answer.ts'
import { field, type UserCall } from '../../frame/call.ts'
import { operatorPath } from '../../frame/operator.ts'
import { emptyBox, pageHead } from '../../frame/parts.ts'
import { type DashboardRoute, operators } from '../../frame/routes.ts'
import { frameWords } from '../../frame/words/frame-words.ts'
import { returnsWords } from './returns-words.ts'

export const RETURNS: readonly DashboardRoute[] = [
  operators('GET', '/operator/returns', returnList),
  operators('GET', '/operator/returns/:id', returnPage),
]

const PAGE = 50
/** Octets of a content that the page shows. */
const MAX_SHOWN = 64 * 1024
const MAX_LINES = 1000

async function returnList(call: UserCall): Promise<Answer> {
  const { core, format, icon, language, query } = call
  const words = returnsWords(language)
  const kind = RETURN_KINDS.find((one) => one === field(query, 'kind'))
  const before = parseMessageId(field(query, 'before'))
  const found = await core.returns.list({ kind, before, limit: PAGE + 1 })
  const shown = found.slice(0, PAGE)
  const chip = (value: (typeof RETURN_KINDS)[number] | undefined, label: string) =>
    html`<a class="chip" href="${operatorPath('returns', { kind: value })}"${kind === value && html` aria-current="true"`}>${label}</a>`
  const older =
    found.length > PAGE &&
    html`<footer class="more"><span></span><a class="btn s" href="${operatorPath('returns', { kind, before: shown.at(-1)?.id })}">
      ${frameWords(language).older}${icon('right')}</a></footer>`
  const list = html`<section class="box"><div class="scroll" tabindex="0" role="region" aria-label="${words.title}"><table class="hov"><thead><tr><th>
    ${words.kind}</th><th>${words.about}</th><th class="wide-only">${words.from}</th><th class="wide-only">${words.effect}</th>
    <th class="n wide-only">${words.account}</th><th class="n">
    ${words.received}</th></tr></thead><tbody>${shown.map(
      (one) =>
        html`<tr><td><a class="go" href="${operatorPath(`returns/${one.id}`)}">${words.kinds[one.kind]}</a>${
          one.class !== null &&
          html`<small>
        ${one.class}</small>`
        }</td><td class="any">${aboutWhom(call, one)}</td>
        <td class="any wide-only">${one.reporter === '' ? html`<span class="faint">${words.unknown}</span>` : foreign(one.reporter)}
        </td><td class="wide-only dim">${effectText(call, one)}</td><td class="n wide-only">${one.accountId ?? '–'}</td><td class="n faint">
        ${format.time(one.receivedAt)}</td></tr>`,
    )}</tbody></table></div>${older}</section>`
  return page({
    title: words.title,
    body: html`${pageHead(words.title, words.lead)}
<nav class="pick" aria-label="${words.kind}">${chip(undefined, words.all)}${RETURN_KINDS.map((one) => chip(one, words.kinds[one]))}</nav>
${shown.length > 0 ? list : emptyBox(call, 'inbox', kind === undefined ? words.none : words.noneOfKind, words.noneText)}`,
  })
}

function effectText({ language }: UserCall, { effect, why }: StoredReturn): string {
  const words = returnsWords(language)
  return effect === 'none' ? words.noEffect(why === null ? '–' : NO_EFFECT[why]) : words.effects[effect]
}

/** The address that the returned message was sent to, and the message, which those who may see its account can open. */
function aboutWhom(call: UserCall, { accountId, messageId, recipient, recipientNo }: StoredReturn): Value {
  const { language, visitor } = call
  const words = returnsWords(language)
  if (messageId === null) return html`<span class="faint">${words.noMessage}</span>`
  const who = recipient === null ? words.recipient(String(recipientNo)) : foreign(recipient)
  const isSeen = visitor.accounts.some(({ id }) => id === accountId)
  const message = isSeen
    ? html`<a href="/app/${accountId}/messages/${messageId}">${words.toMessage}</a>`
    : html`<code class="cut">${messageId}</code>`
  return html`${who}<small>${message}</small>`
}

async function returnPage(call: UserCall): Promise<Answer> {
  const { core, format, language, params } = call
  const words = returnsWords(language)
  const crumbs = [[words.title, operatorPath('returns')]] as const
  const id = parseMessageId(params.id ?? '')
  const found = id === undefined ? undefined : await core.returns.show(id)
  if (!found) {
    const body = emptyBox(call, 'inbox', words.notFound, words.notFoundText)
    return page({ title: words.notFound, status: 404, crumbs, body })
  }
  const row = (name: string, value: Value) => html`<dt>${name}</dt><dd class="any">${value}</dd>`
  const { accountId, forward, mailFrom, messageId, reporter, role } = found
  return page({
    title: words.kinds[found.kind],
    crumbs,
    body: html`${pageHead(words.kinds[found.kind], effectText(call, found))}
<section class="box"><dl class="dl pad">${[
      row(words.received, format.time(found.receivedAt)),
      row(words.from, reporter === '' ? words.unknown : foreign(reporter)),
      mailFrom !== null && row(words.mailFrom, mailFrom === '' ? words.nullSender : foreign(mailFrom)),
      row(words.sentTo, role === null ? words.returnPath : `${role}@`),
      messageId !== null && row(words.about, aboutWhom(call, found)),
      messageId !== null && row(words.message, html`<code>${messageId}</code>`),
      accountId !== null &&
        row(words.account, html`<a href="${operatorPath(`accounts/${accountId}`)}">${accountId}</a>`),
      forward !== null && row(words.forwarded, words.forwards[forward]),
      row(words.size, format.size(found.size)),
    ]}</dl></section>${contentPart(call, found.content)}`,
  })
}

/** The content as plain text: nothing in it is shown as HTML, decoded or loaded. */
function contentPart({ format, language }: UserCall, content: Buffer | null): Html {
  const words = returnsWords(language)
  if (!content) return html`<p class="hint">${words.notKept}</p>`
  const text = content.subarray(0, MAX_SHOWN).toString().replaceAll('\r\n', '\n')
  const lines = text.split('\n', MAX_LINES).map((line) => html`${foreign(line)}\n`)
  return html`<section class="box"><header><h2>${words.content}</h2><p>${words.contentText}</p></header><div class="code"><pre tabindex="0">${lines}
    </pre></div>${content.length > MAX_SHOWN && html`<footer>${words.cut(format.size(MAX_SHOWN))}</footer>`}</section>`
}
