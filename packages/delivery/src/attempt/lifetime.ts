import type { InFlightDelivery } from './deliver.ts'

/** Milliseconds after its deadline in which the last attempt of a message begins: it is due when the deadline is reached. */
const LAST_ATTEMPT_MS = 15_000

/** Whether it is too late for the last attempt of a delivery that must not arrive after its deadline. */
export function isTooLate({ delivery, takenAt }: InFlightDelivery): boolean {
  return performance.now() - takenAt > delivery.lifetimeLeft + LAST_ATTEMPT_MS
}

/** Whether the lifetime of a delivery has ended. */
export function hasEnded({ delivery, takenAt }: InFlightDelivery): boolean {
  return performance.now() - takenAt >= delivery.lifetimeLeft
}
