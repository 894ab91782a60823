import type { MessageDetails } from '@postrider/core'

type Delivery = Pick<MessageDetails['deliveries'][number], 'state' | 'bouncedAt'>

/** Returns the state of a delivery for a table: a server may report a bounce after it had accepted the message. */
export function stateText({ state, bouncedAt }: Delivery): string {
  return bouncedAt === null ? state : `${state}, then bounced`
}
