/** The states of a delivery, each with its meaning. The first four stand in the queue, the others are final. */
export const DELIVERY_STATES = {
  scheduled: 'accepted, not due yet because the sender asked for a later time',
  queued: 'accepted, due, not tried yet',
  sending: 'a worker holds the lease and is at it',
  deferred: 'tried, temporarily refused, to be tried again',
  delivered: "the recipient's server took it",
  bounced: "the recipient's server refused it for good, or the address can't receive mail",
  dropped: 'not sent: the recipient is suppressed or malformed, or the message may not or can not be sent',
  expired: 'tried until its deadline, still deferred',
} as const

export type DeliveryState = keyof typeof DELIVERY_STATES
