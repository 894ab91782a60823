import type { DeliveryTime } from '@postrider/core'
import { type Html, html } from '@postrider/ui'

/** A logarithmic axis of delivery times. */
export interface Scale {
  /** Its ends, in seconds. */
  readonly ends: readonly [from: number, to: number]
  /** The place of a time on it, from 0 to 100. */
  at(seconds: number): number
}

const FROM = 0.1
/** Ten minutes, an hour, six hours, a day, a week: an axis ends at the first that holds all times. */
const ENDS = [600, 3600, 6 * 3600, 86_400, 7 * 86_400] as const

export function percentileScale(times: readonly DeliveryTime[]): Scale {
  const longest = Math.max(0, ...times.map(({ p99 }) => p99))
  const to = ENDS.find((end) => end >= longest) ?? ENDS[ENDS.length - 1] ?? FROM
  return {
    ends: [FROM, to],
    at(seconds) {
      const share = Math.log(Math.min(to, Math.max(FROM, seconds)) / FROM) / Math.log(to / FROM)
      return Math.round(1000 * share) / 10
    },
  }
}

/** A dot at half of the mail, a line to nine of ten, a tick at 99 of 100. */
export function percentileBar(scale: Scale, time: DeliveryTime): Html {
  const [p50, p90, p99] = [scale.at(time.p50), scale.at(time.p90), scale.at(time.p99)]
  return html`<svg class="hbar" viewBox="0 0 100 16" preserveAspectRatio="none" aria-hidden="true"><path class="c grid" d="M0 8h100"/>
    <path class="c mid pale c1" d="M${p50} 8H${p99}"/><path class="c mid c1" d="M${p50} 8H${p90}"/><path class="c fat c1" d="M${p50} 8h0"/>
    <path class="c mid c1" d="M${p99} 4v8"/></svg>`
}
