import type { LinkStatus } from '../reading/judged-link.ts'
import type { Notice } from '../reading/part-order.ts'

interface Outcome {
  readonly statuses?: ReadonlyMap<string, LinkStatus>
  readonly notice?: Notice
}

/** Messages whose outcomes are kept. */
const MAX_KEPT = 200

/** The latest outcomes by the id of a copy, in memory only: a page shows them after the form that led to it. */
export class Outcomes {
  readonly #kept = new Map<string, Outcome>()

  of(id: string): Outcome {
    return this.#kept.get(id) ?? {}
  }

  /** A notice is shown once. */
  takeNotice(id: string): Notice | undefined {
    const { notice, ...rest } = this.of(id)
    if (notice) this.#kept.set(id, rest)
    return notice
  }

  set(id: string, outcome: Outcome): void {
    const known = this.of(id)
    this.#kept.delete(id)
    this.#kept.set(id, { ...known, ...outcome })
    const [oldest] = this.#kept.keys()
    if (this.#kept.size > MAX_KEPT && oldest !== undefined) this.#kept.delete(oldest)
  }
}
