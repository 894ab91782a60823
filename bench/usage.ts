import { readdirSync, readFileSync } from 'node:fs'

/** Use of a process: kilobytes of memory as PSS, by which those who share a page have a part of it each, and milliseconds of processor time so far. */
export interface Usage {
  readonly name: string
  readonly pss: number
  readonly ms: number
}

/** Linux counts processor time in hundredths of a second. */
const TICK_MS = 10

/** Returns the use of a process and of all that it started, by process. */
export function usageOf(root: number): Map<number, Usage> {
  const parents = new Map<number, number>()
  const found = new Map<number, Usage>()
  for (const name of readdirSync('/proc').filter((one) => /^\d+$/.test(one))) {
    const stat = read(`/proc/${name}/stat`)
    if (stat) parents.set(Number(name), Number(fieldsOf(stat)[1]))
  }
  for (const pid of parents.keys()) {
    let at = pid
    while (at > 1 && at !== root) at = parents.get(at) ?? 0
    const usage = at === root ? usageOfOne(pid) : undefined
    if (usage) found.set(pid, usage)
  }
  return found
}

function usageOfOne(pid: number): Usage | undefined {
  const [stat, rollup] = [read(`/proc/${pid}/stat`), read(`/proc/${pid}/smaps_rollup`)]
  const command = read(`/proc/${pid}/cmdline`)?.replaceAll('\0', ' ').trim()
  if (!stat || !rollup || !command) return undefined
  const fields = fieldsOf(stat)
  return {
    name: nameOf(command),
    pss: Number(/^Pss:\s+(\d+)/m.exec(rollup)?.[1] ?? 0),
    ms: (Number(fields[11]) + Number(fields[12])) * TICK_MS,
  }
}

/** The module of a program of ours; what a server process of Postgres does, without the address of its client. */
function nameOf(command: string): string {
  const title = /^postgres: +(.*)/.exec(command)?.[1]
  if (title !== undefined)
    return `postgres: ${title.replace(/\d+\.\d+\.\d+\.\d+.*|\bworker \d+/, 'connection').replace(/ +$/, '')}`
  if (command.includes('/postgres -D')) return 'postgres'
  return /[^ ]*\/packages\/([^ ]*)/.exec(command)?.[1] ?? command.slice(0, 40)
}

/** proc_pid_stat(5), from the state on: the name of the program may hold blanks. */
function fieldsOf(stat: string): string[] {
  return stat.replace(/^.*\) /s, '').split(' ')
}

function read(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return undefined
  }
}
