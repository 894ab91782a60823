import { classOf, type DeliveryClass } from '../accounts/mail-class.ts'
import type { AddedContent } from '../composition/added-content.ts'
import { lifetimeOf } from '../delivery/outcomes/schedule.ts'

/** Columns of the queue that are the same for all deliveries of a message. */
export interface QueueColumns {
  readonly class: DeliveryClass
  /** The unsubscribe group; null if it has none. */
  readonly groupId: number | null
  /** The suppression lists that it bypasses; null if none. */
  readonly bypass: readonly string[] | null
  /** For how many seconds it is tried, from when it is due. */
  readonly lifetime: number
}

/** Returns these columns from the settings of a message, for accepting it and for requeueing it. */
export function queueColumnsOf(settings: AddedContent): QueueColumns {
  return {
    class: classOf(settings.class),
    groupId: settings.group ?? null,
    bypass: settings.bypass ?? null,
    lifetime: lifetimeOf(settings),
  }
}
