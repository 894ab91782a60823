/** A step of the SMTP conversation as it is stored (attempts.conversation). */
export interface Step {
  readonly step: string
  readonly ms: number
  readonly code?: number | null
  readonly enhanced?: string | null
  readonly text?: string | null
  /** Sent with the step before it, so that their durations overlap. */
  readonly together?: boolean
}

/** Steps that are shown; a conversation has about ten. */
const MAX_STEPS = 40

/** The steps of the attempt's conversation. Stored data of an older version may have another shape. */
export function stepsOf(conversation: unknown): readonly Step[] {
  if (!Array.isArray(conversation)) return []
  return conversation
    .slice(0, MAX_STEPS)
    .filter((one): one is Step => typeof one?.step === 'string' && typeof one?.ms === 'number')
}

const ENVELOPE: ReadonlySet<string> = new Set(['mail', 'rcpt', 'data'])

/**
 * The steps in groups whose commands left in one write. `milliseconds`: the duration of the attempt. Of one that was stored without marks, MAIL, RCPT and DATA
 * overlap if all steps together would take longer than the attempt did.
 */
export function writesOf(steps: readonly Step[], milliseconds: number): readonly (readonly Step[])[] {
  const isMarked = steps.some(({ together }) => together)
  const sum = steps.reduce((total, { ms }) => total + ms, 0)
  const overlaps = !isMarked && sum > milliseconds + 1
  const groups: Step[][] = []
  for (const one of steps) {
    const last = groups.at(-1)
    const before = last?.at(-1)
    const isWith =
      one.together === true ||
      (overlaps && before !== undefined && ENVELOPE.has(before.step) && ENVELOPE.has(one.step) && one.ms >= before.ms)
    if (isWith && last) last.push(one)
    else groups.push([one])
  }
  return groups
}

/** How long a write and its replies took: as long as the last reply. */
export function durationOf(group: readonly Step[]): number {
  return Math.max(...group.map(({ ms }) => ms))
}
