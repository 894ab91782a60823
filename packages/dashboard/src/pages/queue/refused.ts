import type { PlaceDetails, RefusedOverview } from '@postrider/core'
import { foreign, type Html, html, type Value } from '@postrider/ui'
import type { UserCall } from '../../frame/call.ts'
import { operatorPath } from '../../frame/operator.ts'
import { destinationName } from './destination-state.ts'
import { queueWords } from './queue-words.ts'

const MAX_ROWS = 20

/** The destinations that refused mail within the last hour, whether mail waits there or not; nothing if none did. */
export function refusedBox(call: UserCall, { places, others, partial }: RefusedOverview): Html | false {
  if (places.length === 0) return false
  const { format, language } = call
  const words = queueWords(language)
  const more = others + Math.max(0, places.length - MAX_ROWS)
  const rows = places
    .slice(0, MAX_ROWS)
    .map((one) =>
      row(
        call,
        html`<a class="go any" href="${operatorPath('queue/place', { name: one.place })}">${foreign(destinationName(call, one.place))}</a>`,
        one,
      ),
    )
  return html`<section class="box">${table(call, words.groupings.provider, rows)}${
    (more > 0 || partial) &&
    html`<footer>${more > 0 && words.refusedMore(format.number(more))}${partial && html` ${words.refusedPartial}`}</footer>`
  }</section>`
}

/** Refusals of one destination within the last hour, by the class of the reply; nothing if it refused nothing. */
export function refusedHere(call: UserCall, refused: PlaceDetails['refused']): Html | false {
  if (refused.length === 0) return false
  const { replyClass } = queueWords(call.language)
  const rows = refused.map((one) => row(call, replyClass(one.class), one))
  return html`<section class="box">${table(call, queueWords(call.language).reply, rows)}</section>`
}

function table({ language }: UserCall, first: string, rows: readonly Html[]): Html {
  const words = queueWords(language)
  return html`<header><h2>${words.refused}</h2><p>${words.refusedText}</p></header>
    <div class="scroll" tabindex="0" role="region" aria-label="${words.refused}"><table><thead><tr><th>${first}</th><th class="n">${words.bounced}</th>
    <th class="n">${words.forNow}</th><th class="wide-only">${words.reply}</th><th class="n wide-only">${words.last}</th></tr></thead><tbody>${rows}</tbody>
    </table></div>`
}

function row({ format, language }: UserCall, name: Value, refused: PlaceDetails['refused'][number]): Html {
  const { permanent, forNow, class: of, reply, at } = refused
  const said = html`<span class="clamp">“${foreign(reply)}”</span><small>${queueWords(language).replyClass(of)}</small>`
  return html`<tr><td>${name}<div class="narrow">${said}</div></td><td class="n">${format.number(permanent)}</td><td class="n">${format.number(forNow)}</td>
    <td class="whyc wide-only">${said}</td><td class="n wide-only faint">${format.ago(at)}</td></tr>`
}
