import { MOST_PEAK_MIB, mostTurn, warm } from './measure.ts'
import type { Door, Row } from './row.ts'
import type { Waits } from './second-client.ts'
import { openStage } from './stage.ts'

/**
 * An ordinary client alone, beside hostile traffic, and meanwhile on another service of the same machine and Postgres, which nobody
 * attacks: what it waits there is what the attacker takes of the machine, which the service has no part in.
 */
export interface Beside {
  readonly door: Door
  readonly attacks: number
  /** How often the process ended. */
  readonly restarts: number
  readonly alone: Waits
  readonly beside: Waits
  readonly elsewhere: Waits
  /** Milliseconds of processor time of the longest turn. */
  readonly longest: number
  /** MiB. */
  readonly peak: number
}

export interface TrafficOptions {
  readonly seconds: number
  readonly seed: number
}

/** How much longer an ordinary client may wait than where nobody attacks. */
const MOST_RATIO = 2
/** Of the time for the traffic, how long the client is measured alone; and milliseconds at most. */
const ALONE = { share: 0.2, most: 60_000 } as const
/** One input must not take all the time. */
const ATTACK_MS = 10_000

export function wrongWith({ door, restarts, beside, elsewhere, longest, peak }: Beside): string | undefined {
  if (restarts > 0) return 'the process ended'
  if (longest > mostTurn(door)) return `the main loop stood still for ${Math.round(longest)} ms`
  if (peak > MOST_PEAK_MIB) return `${Math.round(peak)} MiB`
  const ratio = beside.p99 / elsewhere.p99
  return ratio > MOST_RATIO ? `the ordinary client's p99 is ${ratio.toFixed(1)} times what it is elsewhere` : undefined
}

/** Sends a door's costly inputs at random, one after another, for so many seconds. */
export async function traffic(door: Door, rows: readonly Row[], { seconds, seed }: TrafficOptions): Promise<Beside> {
  const stage = await warm(await openStage(door))
  const { measured, second } = stage
  const untouched = await openStage(door)
  try {
    second.begin()
    await pause(Math.min(ALONE.most, Math.max(5000, seconds * 1000 * ALONE.share)))
    const alone = await second.end(ATTACK_MS)
    await measured.forget(ATTACK_MS)
    second.begin()
    untouched.second.begin()
    const deadline = performance.now() + seconds * 1000
    const next = shuffled(rows, seed)
    let attacks = 0
    while (performance.now() < deadline && measured.ended() === undefined) {
      const { attack } = next()
      await Promise.race([attack(stage).catch(() => {}), pause(ATTACK_MS)])
      attacks++
    }
    const [beside, elsewhere] = await Promise.all([second.end(ATTACK_MS), untouched.second.end(ATTACK_MS)])
    const turns = await measured.turns(ATTACK_MS)
    const restarts = measured.ended() === undefined ? 0 : 1
    return {
      door,
      attacks,
      restarts,
      alone,
      beside,
      elsewhere,
      peak: measured.peak(),
      longest: turns?.longest ?? Number.POSITIVE_INFINITY,
    }
  } finally {
    await stage.close()
    await untouched.close()
  }
}

/** The rows again and again, in another order each time; the same seed gives the same orders. */
function shuffled(rows: readonly Row[], seed: number): () => Row {
  let state = seed
  // mulberry32: small, and good enough to mix some hundred rows.
  const random = (): number => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
  let left: Row[] = []
  return () => {
    if (left.length === 0) left = [...rows]
    return left.splice(Math.floor(random() * left.length), 1)[0] as Row
  }
}

function pause(milliseconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, milliseconds))
}
