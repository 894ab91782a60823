import { setTimeout as unheld } from 'node:timers/promises'
import { limitHere } from '../helpers/turns.ts'
import type { Door, Row } from './row.ts'
import type { Waits } from './second-client.ts'
import { openStage, type Stage } from './stage.ts'

/** What an input cost the process that met it. */
export interface Cost {
  readonly door: Door
  readonly name: string
  readonly octets: number
  /** As of the row. */
  readonly most?: number | undefined
  readonly inputs: number
  /** Milliseconds of processor time of the longest turn of the main loop. */
  readonly longest: number
  /** The turn had not come to its end when the row's time was over. */
  readonly stuck: boolean
  /** Milliseconds of processor time of all threads. */
  readonly processor: number
  /** What a second client waited for one answer; it hangs on what else the machine does, and is not evaluated. */
  readonly waits: Waits
  /** MiB. */
  readonly peak: number
  readonly answer: string
}

/** Nobody else waits longer than this for one input, in milliseconds of processor time. */
export const MOST_TURN_MS = 100
/** The sandbox shows one person's own mail on his own machine: half a second for a message of 5 MB is nobody else's. */
const MOST_SANDBOX_TURN_MS = 500
/** MiB of any process: 250 that it is by itself with its threads, and what a body of 30 MB becomes on its way through them. */
export const MOST_PEAK_MIB = 640
/** A row that takes longer is cut off, and the next one meets a fresh process. */
const ROW_MS = 30_000
/** As long in addition for each further input of a row. */
const INPUT_MS = 2000
/**
 * What is beyond a bound is measured again: other processes take caches and cores away, but not every time, and a process that has
 * memory of many large calls before it is followed by a fresh one.
 */
const TRIES = 2

/** Milliseconds. */
export function mostTurn(door: Door): number {
  return door === 'sandbox' ? MOST_SANDBOX_TURN_MS : MOST_TURN_MS
}

/** What is wrong with a row's cost; undefined: nothing. */
export function beyond({ door, longest, stuck, peak, answer, most = mostTurn(door) }: Cost): string | undefined {
  if (/^(exit|SIG)/.test(answer)) return `the process ended (${answer})`
  if (stuck) return `the main loop stood still for more than ${seconds(longest)}`
  // New memory can cost many times as much as on the machine on which the bounds were set.
  if (longest > most && longest > limitHere(most)) return `the main loop stood still for ${seconds(longest)}`
  if (peak > MOST_PEAK_MIB) return `${Math.round(peak)} MiB`
  if (door === 'api' && answer.startsWith('500')) return 'the answer is a fault of ours'
  return undefined
}

/** Runs rows of one door, one after another; a stage that was broken by one is not used for the next. */
export async function* measureRows(door: Door, rows: readonly Row[]): AsyncGenerator<Cost> {
  let stage: Stage | undefined
  try {
    for (const row of rows) {
      let best: Cost | undefined
      for (let tried = 0; tried < TRIES; tried++) {
        stage ??= await warm(await openStage(door))
        const cost = await measureRow(stage, row)
        if (!best || beyond(cost) === undefined || cost.longest < best.longest) best = cost
        // What a process has taken it does not give back at once, and the next row would be blamed for it.
        const usable = !cost.stuck && cost.peak <= MOST_PEAK_MIB && stage.measured.ended() === undefined
        if (!usable) {
          await stage.close()
          stage = undefined
        }
        if (cost.stuck || beyond(best) === undefined || cost.longest > 10 * MOST_TURN_MS) break
      }
      yield best as Cost
    }
  } finally {
    await stage?.close()
  }
}

/** Runs ordinary calls first: what is compiled and loaded once is not what an input costs. */
export async function warm(stage: Stage): Promise<Stage> {
  stage.second.begin()
  await pause(1500)
  await stage.second.end(ROW_MS)
  return stage
}

export async function measureRow(stage: Stage, { door, name, attack, most, inputs = 1 }: Row): Promise<Cost> {
  const { measured, second } = stage
  stage.octets = 0
  await measured.forget(ROW_MS)
  const before = measured.spent()
  const time = ROW_MS + (inputs - 1) * INPUT_MS
  const deadline = performance.now() + time
  const left = (): number => Math.max(200, deadline - performance.now())
  second.begin()
  const answer = await Promise.race([
    attack(stage).catch((error: Error) => `${error.name}: ${error.message}`),
    // Once there is an answer it must not keep the process.
    unheld(time, 'no answer', { ref: false }),
  ])
  // What goes on behind the answer belongs to the input too.
  await pause(150)
  const turns = await measured.turns(left())
  const waits = await second.end(left())
  const after = measured.spent()
  const ended = measured.ended()
  return {
    door,
    name,
    octets: stage.octets,
    most,
    inputs,
    waits,
    peak: measured.peak(),
    longest: turns?.longest ?? after.main - before.main,
    stuck: turns === undefined || (answer === 'no answer' && turns.longest > 10 * MOST_TURN_MS),
    processor: after.all - before.all,
    answer:
      ended ??
      answer
        .replace(/\s+|\b[0-9a-f]{32}\b/g, ' ')
        .slice(0, 90)
        .trim(),
  }
}

function seconds(milliseconds: number): string {
  return milliseconds < 1000 ? `${Math.round(milliseconds)} ms` : `${(milliseconds / 1000).toFixed(1)} s`
}

function pause(milliseconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, milliseconds))
}
