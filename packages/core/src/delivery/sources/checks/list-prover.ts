import type { DnsQuery } from '../../../platform/net/dns-lookup.ts'
import type { Log } from '../../../platform/process/log.ts'
import { type BlockList, unknown, type Verdict, verdictOf } from './block-lists.ts'
import { reversed } from './reverse-name.ts'

/** RFC 5782 5: each list of IPv4 addresses has the one and never the other. */
const LISTED = '127.0.0.2'
const NEVER_LISTED = '127.0.0.1'

/** Milliseconds for which a proof, or a failed proof, is valid. */
const VALID_MS = 24 * 3_600_000
const FAILED_MS = 600_000

interface Proof {
  /** Milliseconds since 1970; 0 if it is not kept. */
  readonly until: number
  /** Undefined if the list is proven. */
  readonly problem: string | undefined
}

/**
 * Looks addresses up in block lists, and proves each list before: a list that does not have its test entry, or has every address, says
 * nothing about the others. Proofs belong to this process, because other hosts may use other resolvers.
 */
export class ListProver {
  readonly #log: Log
  readonly #proofs = new Map<string, Proof | Promise<Proof>>()

  constructor(log: Log) {
    this.#log = log
  }

  /** Never throws. An unproven list is not queried for the address: its answer would be unknown, and may take long. */
  async lookUp(list: BlockList, address: string, query: DnsQuery, now: Date): Promise<Verdict> {
    const { problem } = await this.#proof(list, query, now)
    if (problem !== undefined) return unknown(problem)
    const verdict = verdictOf(await query('A', entry(list, address)), list)
    // Before the next lookup, the list is proven again, so that one that has become silent costs few of them.
    if (verdict.state === 'unknown') this.#proofs.delete(list.zone)
    return verdict
  }

  #proof(list: BlockList, query: DnsQuery, now: Date): Proof | Promise<Proof> {
    const known = this.#proofs.get(list.zone)
    if (known && (known instanceof Promise || known.until > now.getTime())) return known
    const proof = this.#prove(list, query, now).then((result) => {
      if (result.until > 0) this.#note(list, known, result)
      this.#proofs.set(list.zone, result)
      return result
    })
    this.#proofs.set(list.zone, proof)
    return proof
  }

  async #prove(list: BlockList, query: DnsQuery, now: Date): Promise<Proof> {
    const answers = await Promise.all([LISTED, NEVER_LISTED].map((address) => query('A', entry(list, address))))
    const [listed, clean] = answers.map((answer) => verdictOf(answer, list))
    const problem = listed && clean && problemOf(listed, clean)
    // This process is stopping, which says nothing about the list.
    if (answers.some((answer) => answer.kind === 'unanswered' && answer.code === 'ECANCELLED'))
      return { until: 0, problem }
    return { until: now.getTime() + (problem === undefined ? VALID_MS : FAILED_MS), problem }
  }

  #note({ name }: BlockList, before: Proof | undefined, { problem }: Proof): void {
    if (problem === before?.problem) return
    if (problem === undefined) this.#log.info({ list: name }, 'block list answers again')
    else this.#log.warn({ list: name, problem }, 'block list does not answer correctly')
  }
}

/** Undefined if the list is proven. */
function problemOf(listed: Verdict, clean: Verdict): string | undefined {
  if (listed.problem !== undefined) return listed.problem
  if (clean.problem !== undefined) return clean.problem
  if (listed.state === 'clean') return `its test entry ${LISTED} is missing`
  if (clean.state !== 'clean') return `it lists ${NEVER_LISTED}, which no list may`
  return undefined
}

function entry({ zone }: BlockList, address: string): string {
  return `${reversed(address)}.${zone}`
}
