import { readdirSync, readFileSync } from 'node:fs'

/** Linux counts processor time in hundredths of a second. */
const TICK_US = 10_000

/** The processes of a contestant: those it was started with. What they start counts, too. */
export type Roots = readonly number[]

/** Notes the processor time of each round's load, in microseconds per message. The load generator's and the sink's are not in it. */
export class ProcessorTime {
  readonly rounds: Record<string, number[]> = {}

  /** `messages`: how many `act` sends, or a function that knows it from its result. */
  async during<T>(
    name: string,
    roots: Roots,
    messages: number | ((result: T) => number),
    act: () => Promise<T>,
  ): Promise<T> {
    const before = microseconds(roots)
    const result = await act()
    const count = typeof messages === 'number' ? messages : messages(result)
    ;(this.rounds[name] ??= []).push((microseconds(roots) - before) / count)
    return result
  }
}

interface Process {
  readonly parent: number
  /** Its own processor time, and that of the children it has waited for. */
  readonly time: number
}

/** Processor time so far. A process that ended in between is counted by the parent that waited for it. 0 where there is no /proc. */
function microseconds(roots: Roots): number {
  const processes = new Map<number, Process>()
  for (const name of listed()) {
    const process = read(name)
    if (process) processes.set(Number(name), process)
  }
  const belongs = (pid: number): boolean => {
    for (let at = pid; at > 1; at = processes.get(at)?.parent ?? 0) if (roots.includes(at)) return true
    return false
  }
  let ticks = 0
  for (const [pid, { time }] of processes) if (belongs(pid)) ticks += time
  return ticks * TICK_US
}

function listed(): string[] {
  try {
    return readdirSync('/proc').filter((name) => /^\d+$/.test(name))
  } catch {
    return []
  }
}

/** proc_pid_stat(5): the name of the program may hold blanks; the numbers stand behind its bracket. */
function read(pid: string): Process | undefined {
  try {
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8')
      .replace(/^.*\) /s, '')
      .split(' ')
    return { parent: Number(fields[1]), time: fields.slice(11, 15).reduce((sum, ticks) => sum + Number(ticks), 0) }
  } catch {
    return undefined
  }
}

/** Returns what tells the processor time of each part since now, in microseconds. */
export function sinceNow(parts: Readonly<Record<string, Roots>>): () => [part: string, time: number][] {
  const before = Object.entries(parts).map(([part, roots]) => [part, roots, microseconds(roots)] as const)
  return () => before.map(([part, roots, then]) => [part, microseconds(roots) - then])
}
