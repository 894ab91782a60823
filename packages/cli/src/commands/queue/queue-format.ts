import type { BoundedCount, MessageRate } from '@postrider/core'

/** Such as `>10001`: there may be others. */
export function bounded({ count, more }: BoundedCount): string {
  return more ? `>${count}` : String(count)
}

/** Such as 10/min. */
export function rateText({ messages, seconds }: MessageRate): string {
  return `${messages}/${seconds === 1 ? 's' : seconds === 60 ? 'min' : 'h'}`
}

/** Such as 45s, 12m, 3h or 2d. */
export function duration(milliseconds: number): string {
  const seconds = Math.max(0, Math.floor(milliseconds / 1000))
  if (seconds < 120) return `${seconds}s`
  if (seconds < 7200) return `${Math.floor(seconds / 60)}m`
  return seconds < 172_800 ? `${Math.floor(seconds / 3600)}h` : `${Math.floor(seconds / 86_400)}d`
}
