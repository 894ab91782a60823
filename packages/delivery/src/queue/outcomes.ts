import {
  type ClaimedDelivery,
  type Config,
  count,
  DamagedBody,
  type LoadedMessage,
  type Log,
  type Outcome,
  type Providers,
  type SendPermission,
} from '@postrider/core'
import { countAttempt } from '../attempt/attempt-metrics.ts'
import { traceAttempt } from '../attempt/attempt-trace.ts'
import type { InFlightDeliveries } from '../destinations/in-flight.ts'
import { damaged, INTERNAL_ERROR, reduced, summary } from './own-outcomes.ts'
import type { Recorder } from './recorder.ts'

export interface OutcomesOptions {
  readonly log: Log
  readonly workerId: number
  readonly recorder: Recorder
  readonly inFlight: InFlightDeliveries
  readonly providers: Providers
  readonly config: Pick<Config, 'logDeliveries'>
}

/** The subject of an outcome. */
export interface Tried {
  readonly message: LoadedMessage | undefined
  /** The destination where it was offered; undefined if it was not. */
  readonly destination?: string | undefined
  /** The site that was not asked, since its hosts were away or refused sessions just before. */
  readonly unreached?: string | undefined
}

/** Parts of an outcome that are recorded: all, none of the server's texts, or only that it is final. Each is tried if the one before fails. */
type Form = 'whole' | 'reduced' | 'finish-only'

/** Passes the outcomes of deliveries to the recorder. A delivery whose outcome is recorded is no longer in flight. */
export class Outcomes {
  readonly #options: OutcomesOptions

  constructor(options: OutcomesOptions) {
    this.#options = options
  }

  /** An internal error: logged, temporary, retried. */
  fault(delivery: ClaimedDelivery, error: unknown, message?: LoadedMessage): void {
    const { messageId, recipientNo, attempt } = delivery
    this.#options.log.error({ err: error, messageId, recipientNo, attempt }, 'internal error in delivery')
    this.finish(delivery, error instanceof DamagedBody ? damaged(error) : INTERNAL_ERROR, { message })
  }

  /**
   * Records an outcome; undefined means that the lease is lost and nothing may be recorded. Does not wait: the connection continues with
   * its next delivery meanwhile.
   */
  finish(delivery: ClaimedDelivery, outcome: Outcome | undefined, tried: Tried): void {
    if (outcome) this.#record(delivery, outcome, tried, 'whole')
    else this.#options.inFlight.remove(delivery, tried.message)
  }

  /** Records that end of data is about to be sent to this host, and returns whether it may be. */
  recordEndOfData(delivery: ClaimedDelivery, host: string, { domainId }: LoadedMessage): Promise<SendPermission> {
    const { recorder, workerId } = this.#options
    return recorder.recordEndOfData({ ...delivery, workerId, host, domainId }, this.#promptnessOf(delivery))
  }

  /** Mail of a small flow does not wait so that mail of others is cheaper. */
  #promptnessOf(delivery: ClaimedDelivery): { readonly isPrompt: boolean } {
    return { isPrompt: this.#options.inFlight.isSmall(delivery) }
  }

  #isLogged({ kind }: Outcome): boolean {
    const { logDeliveries } = this.#options.config
    return logDeliveries === 'all' || (logDeliveries === 'failures' && kind !== 'delivered')
  }

  #record(delivery: ClaimedDelivery, outcome: Outcome, tried: Tried, form: Form): void {
    const { recorder, workerId, log, inFlight } = this.#options
    const { message, destination, unreached } = tried
    const { messageId, recipientNo, attempt, class: of } = delivery
    const result = { messageId, recipientNo, attempt, class: of, workerId, outcome, place: destination, unreached }
    const recorded =
      form === 'finish-only' ? recorder.finishOnly(result) : recorder.record(result, this.#promptnessOf(delivery))
    recorded.then(
      (taken) => {
        if (taken) {
          if (this.#isLogged(outcome)) log.info({ messageId, recipientNo, attempt, ...summary(outcome) }, outcome.kind)
          countAttempt({ delivery, outcome, message, destination }, this.#options.providers)
          traceAttempt({ delivery, outcome, message })
        } else {
          log.warn({ messageId, recipientNo, attempt }, 'stale result rejected')
          count('stale_results_total', {})
        }
        inFlight.remove(delivery, message)
      },
      (err: unknown) => {
        log.error({ err, messageId, recipientNo, attempt, form }, 'could not record result')
        // If no form can be recorded, the delivery stays in flight: if it were released, it would be sent again immediately. Its claim ends
        // with this worker's lease, and the recorded end of data shows its state.
        if (form === 'whole') this.#record(delivery, reduced(outcome), { message }, 'reduced')
        else if (form === 'reduced' && outcome.kind !== 'deferred')
          this.#record(delivery, outcome, { message }, 'finish-only')
      },
    )
  }
}
