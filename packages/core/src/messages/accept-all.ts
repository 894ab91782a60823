import { longWork } from '../platform/concurrency/turns.ts'
import { BeyondShare, requireShare } from '../submission/share.ts'
import type { Submission } from '../submission/submission.ts'
import { type Acceptance, type AcceptDependencies, accept } from './accept.ts'
import type { Commits } from './commits.ts'
import type { Written } from './insert-messages.ts'
import type { StoredMessage } from './stored-message.ts'

export type AcceptOutcome = PromiseSettledResult<Acceptance>

/** A submission, or why there is none. */
export type Attempted = Submission | { readonly refusal: unknown }

/**
 * Accepts the messages of one call, each by itself: what one is refused for is its own. Those that pass are written together, so that 500 small messages
 * have one commit. `attempted` is read one by one, with other calls between. Throws BeyondShare before anything is stored.
 */
export async function acceptAll(
  attempted: Iterable<Attempted>,
  count: number,
  dependencies: AcceptDependencies & { readonly commit: Commits },
): Promise<AcceptOutcome[]> {
  const gathering = createGathering(count, dependencies.commit)
  const storedBudget = ofOneCall(dependencies)
  const work = longWork()
  const outcomes: Promise<AcceptOutcome>[] = []
  for (const one of attempted) {
    if (gathering.isBeyond()) break
    const commit = gathering.commitOf(outcomes.length)
    const outcome =
      'refusal' in one ? Promise.reject(one.refusal) : accept(one, { ...dependencies, commit, storedBudget })
    outcomes.push(
      outcome.then(fulfilled, rejected).then((ended) => {
        gathering.leave(ended)
        return ended
      }),
    )
    const pause = work.pause()
    if (pause) await pause
  }
  const settled = await Promise.all(outcomes)
  if (gathering.isBeyond()) throw new BeyondShare()
  return settled
}

/** The share of stored content is that of the call: otherwise 500 messages of one template hold the main loop for a second. */
function ofOneCall({ storedBudget, share }: AcceptDependencies): AcceptDependencies['storedBudget'] {
  let taken = 0
  return {
    ...storedBudget,
    take(bytes) {
      taken += bytes
      requireShare(taken, share.stored)
      return storedBudget.take(bytes)
    },
  }
}

const fulfilled = (value: Acceptance): AcceptOutcome => ({ status: 'fulfilled', value })
const rejected = (reason: unknown): AcceptOutcome => ({ status: 'rejected', reason })

interface Waiting {
  /** Its place in the call. */
  readonly at: number
  readonly message: StoredMessage
  readonly settle: PromiseWithResolvers<Written>
}

interface Gathering {
  readonly commitOf: (at: number) => Commits
  /** Whether one of them exceeds the share of work allowed here; then none is written. */
  readonly isBeyond: () => boolean
  readonly leave: (outcome: AcceptOutcome) => void
}

/** Keeps the messages of a call until each of its submissions has one or has ended. */
function createGathering(count: number, commit: Commits): Gathering {
  const waiting: Waiting[] = []
  let ended = 0
  let state: 'open' | 'written' | 'beyond' = 'open'
  const check = (): void => {
    if (state !== 'open' || waiting.length + ended < count) return
    state = 'written'
    // In the order of the call: the last ones are those for which there is no credit, or whose key another one has.
    waiting.sort((a, b) => a.at - b.at)
    const written = commit.addAll(waiting.map(({ message }) => message))
    for (const [number, { settle }] of waiting.entries()) written[number]?.then(settle.resolve, settle.reject)
  }
  return {
    commitOf: (at) => ({
      ...commit,
      add(message) {
        if (state === 'beyond') return Promise.reject(new BeyondShare())
        // Its idempotency key had expired: only then a message comes twice.
        if (state === 'written') return commit.add(message)
        const settle = Promise.withResolvers<Written>()
        waiting.push({ at, message, settle })
        check()
        return settle.promise
      },
      get size() {
        return commit.size
      },
    }),
    isBeyond: () => state === 'beyond',
    leave(outcome) {
      ended++
      if (state === 'open' && outcome.status === 'rejected' && outcome.reason instanceof BeyondShare) {
        state = 'beyond'
        for (const { settle } of waiting.splice(0)) settle.reject(outcome.reason)
      }
      check()
    },
  }
}
