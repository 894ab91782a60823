import type { Outcome, WaitingFor } from '@postrider/core'
import type { Connections } from '../attempt/connections.ts'
import type { InFlightDelivery } from '../attempt/deliver.ts'

/** A delivery, and the sessions with the site it goes to (tls/policy.ts). */
export interface RoutedDelivery extends InFlightDelivery {
  readonly site: string
}

/** The account and sending domain of a message. */
export interface Sender {
  readonly accountId: number
  readonly domainId: number
  readonly recipient: string
}

/** An attempt, and what came of it. */
export interface Tried<Destination> {
  readonly destination: Destination
  readonly inFlight: RoutedDelivery
  readonly own: Connections
  readonly sender: Sender
  readonly outcome: Outcome
  /** It was tried during a pause. */
  readonly isProbe: boolean
}

/** Receives what destinations find out and decide. */
export interface DestinationEvents<Destination> {
  /** The delivery's turn has come. Delivers it; never throws. Without connections its site is down, and it is deferred. */
  turn(inFlight: RoutedDelivery, at: Destination, own: Connections | undefined, isProbe: boolean): Promise<void>
  /** Deliveries cannot be started for some time, and no longer wait at the destination. */
  blocked(deliveries: readonly RoutedDelivery[], at: Destination, waitingFor: WaitingFor): void
  /** The allowance of the destination's source is used up for some seconds. */
  allowanceSpent(at: Destination, seconds: number): void
  /** The destination can have more mail. */
  capacityFreed(): void
}
