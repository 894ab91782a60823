import { availableParallelism, loadavg } from 'node:os'
import { ownCpu } from './turns.ts'

/** Milliseconds of processor time by which the machine is measured. */
const SAMPLE_MS = 40
/** The machine is not measured more often than this. */
const MEASURED_EVERY_MS = 1000

let measured = { at: Number.NEGATIVE_INFINITY, slowness: 1 }

/**
 * Returns how many times longer computing takes here than its processor time, since others use the processors, too: 1 on a quiet machine, some
 * 5 where ten want two. The mean of the last minute counts where it is more, since what was slow has been so before it is looked at.
 */
function slowness(): number {
  if (performance.now() - measured.at < MEASURED_EVERY_MS) return measured.slowness
  const [began, spent] = [performance.now(), ownCpu()]
  while (ownCpu() - spent < SAMPLE_MS);
  const now = performance.now()
  measured = {
    at: now,
    slowness: Math.max((now - began) / SAMPLE_MS, (loadavg()[0] as number) / availableParallelism()),
  }
  return measured.slowness
}

/**
 * Whether no more than this time has passed since `began` of performance.now(), or as much more as this machine is slower now: for what
 * happens within a time by design. Work is evaluated by {@link processorTimeOf}.
 */
export function isInTime(began: number, milliseconds: number): boolean {
  const took = performance.now() - began
  return took <= milliseconds || took <= milliseconds * slowness()
}

/** Returns the milliseconds of processor time that this process spends until the act has ended, with all of its threads. */
export async function processorTimeOf(act: () => unknown): Promise<number> {
  const began = allCpu()
  await act()
  return Math.round(allCpu() - began)
}

function allCpu(): number {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1000
}
