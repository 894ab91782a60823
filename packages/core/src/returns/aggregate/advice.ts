/** The sums of a domain's authenticated reports of the last {@link ADVICE_DAYS} days. */
export interface AdviceFacts {
  /** Messages of this service, and those of them that were aligned. */
  readonly ours: number
  readonly oursAligned: number
  /** The beginning of the earliest report; null if there is none. */
  readonly since: Date | null
  /** `p` of the latest report: what receivers apply now. */
  readonly policy: string | undefined
}

/** Whether a domain can ask receivers to quarantine mail that is not aligned. */
export interface DmarcAdvice {
  readonly isReady: boolean
  readonly text: string
}

export const ADVICE_DAYS = 14
const DAY_MS = 86_400_000
/** The earliest report may begin some hours later than the time. */
const MIN_AGE_MS = (ADVICE_DAYS - 1) * DAY_MS
const MIN_MESSAGES = 100
const MIN_ALIGNED = 0.99

/** Advises quarantine if at least 99 % of this service's own mail was aligned over 14 days; otherwise the text says why not yet. */
export function adviseOn({ ours, oursAligned, since, policy }: AdviceFacts, now: number): DmarcAdvice {
  if (since === null) return notYet(`no authenticated report within ${ADVICE_DAYS} days`)
  if (policy === 'quarantine' || policy === 'reject') {
    const share = ours === 0 ? 'no mail of this service was reported' : `${percent(oursAligned, ours)} of ours aligned`
    return { isReady: true, text: `the policy is ${policy} already; ${share} over ${ADVICE_DAYS} days` }
  }
  const age = now - since.getTime()
  if (ours < MIN_MESSAGES)
    return notYet(`only ${ours} messages of this service were reported; at least ${MIN_MESSAGES} are needed`)
  if (oursAligned / ours < MIN_ALIGNED)
    return notYet(`${percent(oursAligned, ours)} of ours aligned over ${ADVICE_DAYS} days; 99 % are needed`)
  if (age < MIN_AGE_MS)
    return notYet(
      `${percent(oursAligned, ours)} of ours aligned, but reports cover ${Math.floor(age / DAY_MS)} of ${ADVICE_DAYS} days`,
    )
  return {
    isReady: true,
    text: `ready for quarantine: ${percent(oursAligned, ours)} of ours aligned over ${ADVICE_DAYS} days`,
  }
}

function notYet(reason: string): DmarcAdvice {
  return { isReady: false, text: `not yet ready for quarantine: ${reason}` }
}

/** Rounded down, so that 99 % means at least that. */
function percent(part: number, whole: number): string {
  return `${(Math.floor((part / whole) * 1000) / 10).toString()} %`
}
