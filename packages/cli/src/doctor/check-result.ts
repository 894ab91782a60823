export const AREAS = ['settings', 'database', 'replication', 'processes', 'network', 'mail'] as const
export type Area = (typeof AREAS)[number]

export type Status = 'ok' | 'warn' | 'bad'

/** The result of a check. */
export interface CheckResult {
  readonly status: Status
  /** The result in one sentence without a full stop. */
  readonly detail: string
  /** The command or setting that corrects it; undefined if the status is ok. */
  readonly fix?: string
  /** Milliseconds from the beginning of a test message to each stage that it reached. */
  readonly stages?: Stages
}

export interface Stages {
  readonly accepted?: number
  readonly claimed?: number
  readonly delivered?: number
}

/** A check that was not made; the message is the reason. */
export class NotChecked extends Error {}

export function ok(detail: string): CheckResult {
  return { status: 'ok', detail }
}

export function warn(detail: string, fix: string): CheckResult {
  return { status: 'warn', detail, fix }
}

export function bad(detail: string, fix: string): CheckResult {
  return { status: 'bad', detail, fix }
}

/** The first entries of a list, and the number of the others. */
export function firstOf(entries: readonly string[], most = 3): string {
  const others = entries.length - most
  return entries.slice(0, most).join(', ') + (others > 0 ? ` and ${others} more` : '')
}

/** "1 domain", "2 domains". */
export function counted(count: number, noun: string, plural = `${noun}s`): string {
  return `${count} ${count === 1 ? noun : plural}`
}

/** "90 s", "12 min", "5 h", "3 days". */
export function spanText(seconds: number): string {
  if (seconds < 120) return `${Math.round(seconds)} s`
  if (seconds < 7200) return `${Math.round(seconds / 60)} min`
  return seconds < 172_800 ? `${Math.round(seconds / 3600)} h` : `${Math.round(seconds / 86_400)} days`
}

/** "64 MB", "1.5 GB". */
export function bytesText(bytes: number): string {
  const gigabytes = bytes / 2 ** 30
  return gigabytes >= 1 ? `${gigabytes.toFixed(1)} GB` : `${Math.round(bytes / 2 ** 20)} MB`
}
