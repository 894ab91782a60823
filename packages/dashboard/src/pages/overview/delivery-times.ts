import type { NamedCounts } from '@postrider/core'
import { type Html, html } from '@postrider/ui'
import type { AccountCall } from '../../frame/call.ts'
import { percentileBar, percentileScale } from '../../frame/percentiles.ts'
import { overviewWords } from './overview-words.ts'

/** Delivery time by recipient domain. `days`: what they are of, in words. */
export function deliveryTimes({ language, format }: AccountCall, stats: readonly NamedCounts[], days: string): Html {
  const words = overviewWords(language)
  const rows = stats.flatMap(({ name, deliveryTime: time }) => (name !== null && time ? [{ name, time }] : []))
  const head = html`<header><h2>${words.byDomain}</h2><p>${days}</p></header>`
  if (rows.length === 0) return html`${head}<div class="void"><p>${words.noDeliveries}</p></div>`
  const scale = percentileScale(rows.map(({ time }) => time))
  const [from, to] = scale.ends
  const seconds = (value: number) => format.duration(value * 1000)
  return html`${head}<div class="scroll" tabindex="0" role="region" aria-label="${words.byDomain}"><table class="perc"><thead><tr><th>${words.domain}
    </th><th class="hb"><span class="row"><span>${seconds(from)}</span><span class="push">${seconds(to)}</span></span></th>
    <th class="n wide-only">p50</th><th class="n">p90</th><th class="n">p99</th></tr></thead><tbody>${rows.map(
      ({ name, time }) =>
        html`<tr><th scope="row"><bdi>${name}</bdi></th><td class="hb">${percentileBar(scale, time)}</td><td class="n wide-only">${seconds(time.p50)}
        </td><td class="n">${seconds(time.p90)}</td><td class="n">${seconds(time.p99)}</td></tr>`,
    )}</tbody></table></div>`
}
