import type { NamedCounts } from '@postrider/core'
import { type Html, html } from '@postrider/ui'
import type { AccountCall } from '../../frame/call.ts'
import { overviewWords } from './overview-words.ts'

/** The ends of the scale, in seconds. It is logarithmic. */
const [FROM, TO] = [0.1, 600]

/** Delivery time by recipient domain: a dot at half of the mail, a line to nine of ten, a tick at 99 of 100. */
export function deliveryTimes({ language, format }: AccountCall, stats: readonly NamedCounts[]): Html {
  const words = overviewWords(language)
  const rows = stats.flatMap(({ name, deliveryTime: time }) => (name !== null && time ? [{ name, time }] : []))
  const head = html`<header><h2>${words.byDomain}</h2><p>${words.today}</p></header>`
  if (rows.length === 0) return html`${head}<div class="void"><p>${words.noDeliveries}</p></div>`
  const seconds = (value: number) => format.duration(value * 1000)
  return html`${head}<div class="scroll" tabindex="0" role="region" aria-label="${words.byDomain}"><table class="perc"><thead><tr><th>${words.domain}
    </th><th class="hb"><span class="row"><span>${seconds(FROM)}</span><span class="push">${seconds(TO)}</span></span></th>
    <th class="n wide-only">p50</th><th class="n">p90</th><th class="n">p99</th></tr></thead><tbody>${rows.map(
      ({ name, time: { p50, p90, p99 } }) =>
        html`<tr><th scope="row"><bdi>${name}</bdi></th><td class="hb">${bar(at(p50), at(p90), at(p99))}</td><td class="n wide-only">${seconds(p50)}
        </td><td class="n">${seconds(p90)}</td><td class="n">${seconds(p99)}</td></tr>`,
    )}</tbody></table></div>`
}

function at(seconds: number): number {
  const share = Math.log(Math.min(TO, Math.max(FROM, seconds)) / FROM) / Math.log(TO / FROM)
  return Math.round(1000 * share) / 10
}

function bar(p50: number, p90: number, p99: number): Html {
  return html`<svg class="hbar" viewBox="0 0 100 16" preserveAspectRatio="none" aria-hidden="true"><path class="c grid" d="M0 8h100"/>
    <path class="c mid pale c1" d="M${p50} 8H${p99}"/><path class="c mid c1" d="M${p50} 8H${p90}"/><path class="c fat c1" d="M${p50} 8h0"/>
    <path class="c mid c1" d="M${p99} 4v8"/></svg>`
}
