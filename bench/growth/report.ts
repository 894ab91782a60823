import { mkdirSync, writeFileSync } from 'node:fs'
import { cpus, totalmem } from 'node:os'
import { join } from 'node:path'
import { ROOT } from '../harness/processes.ts'
import type { Measured } from './call.ts'

export interface Result {
  readonly scale: number
  readonly bound: number
  readonly measured: readonly Measured[]
  /** Milliseconds each process took to start. */
  readonly started: Readonly<Record<string, number>>
  /** MiB resident at most. */
  readonly memory: Readonly<Record<string, number>>
}

/** Fine: in time, or refused with what to ask instead; a page is never refused. */
export function isFine({ status, p95, isOther = false }: Measured, bound: number): boolean {
  return !isOther && status !== 0 && status < 500 && p95 <= bound
}

export function table({ measured, bound }: Pick<Result, 'measured' | 'bound'>): string {
  const rows = measured.map((one) => {
    const told = one.status < 400 && !one.isOther ? '' : `${one.status}`
    const figures = [one.p50, one.p95, one.processor].map((time) =>
      time < 10 ? time.toFixed(1) : String(Math.round(time)),
    )
    return `| ${one.name} | ${figures.join(' | ')} | ${[isFine(one, bound) ? '' : one.isOther ? 'WRONG' : 'ABOVE', told].filter(Boolean).join(' ')} |`
  })
  return ['| operation | p50, ms | p95, ms | processor, ms | |', '|---|---|---|---|---|', ...rows].join('\n')
}

export function save(result: Result): string {
  const folder = join(ROOT, 'bench/results')
  mkdirSync(folder, { recursive: true })
  const file = join(folder, `growth-${new Date().toISOString().slice(0, 19).replaceAll(':', '')}.json`)
  const machine = { cpu: cpus()[0]?.model, cores: cpus().length, memoryGiB: Math.round(totalmem() / 2 ** 30) }
  writeFileSync(
    file,
    `${JSON.stringify({ measuredAt: new Date().toISOString(), node: process.version, machine, ...result }, undefined, 2)}\n`,
  )
  return file
}
