import type { NextAttempt } from '@postrider/core'
import { cellText } from '../../table.ts'

/** When a delivery is tried next, for a table; empty if no time is planned. */
export function nextAttemptText({ isHeld, isPaused, nextAt }: NextAttempt): string {
  if (isHeld) return 'held'
  const time = nextAt ? cellText(nextAt) : ''
  return isPaused ? `paused until ${time}` : time
}
