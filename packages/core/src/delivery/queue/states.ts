/** The states of a delivery with their meanings. Deliveries in the first four are in the queue; the others are final. */
export const DELIVERY_STATES = {
  scheduled: 'accepted, not due yet because the sender requested a later time',
  queued: 'accepted, due, not tried yet',
  sending: 'claimed by a worker, which is trying to deliver it',
  deferred: 'temporarily rejected, waiting for the next attempt',
  delivered: "accepted by the recipient's server",
  bounced: "permanently rejected by the recipient's server, or the address cannot receive mail",
  dropped: 'not sent: the recipient is suppressed or malformed, or the message may not or cannot be sent',
  expired: 'still deferred when its deadline passed',
} as const

export type DeliveryState = keyof typeof DELIVERY_STATES
