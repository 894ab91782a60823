import { BULK, type DeliveryClass, NORMAL, URGENT } from '../accounts/mail-class.ts'
import type { HoldLevel } from '../delivery/queue/account-holds.ts'
import type { Figures } from './figures.ts'

export const REPUTATION_RULES = ['none', 'standard', 'strict'] as const
/** The consequences of bad figures: only warnings, the usual limits, or half of them. */
export type ReputationRules = (typeof REPUTATION_RULES)[number]

export const HOLD_RULES = ['unknown-recipients', 'sudden-volume', 'bounces', 'complaints', 'policy-deferrals'] as const
export type HoldRule = (typeof HOLD_RULES)[number]

/** The verdict of a rule on an account. */
export interface Verdict {
  readonly rule: HoldRule
  readonly level: HoldLevel
  readonly classes: readonly DeliveryClass[]
  /** Messages per hour, of all classes that are slowed; if bulk mail is held, that of normal mail. */
  readonly rate: number | null
  readonly figures: Readonly<Record<string, number>>
}

/** Hard bounces as a share of outcomes, and complaints as a share of deliveries to providers that report them. */
const BOUNCES = { warned: 0.04, slowed: 0.06, held: 0.1 } as const
const COMPLAINTS = { warned: 0.001, slowed: 0.003, held: 0.005 } as const
/** Attempts that a filter or policy of a provider deferred, as a share of those at the provider in 24 hours. */
const DEFERRALS = { warned: 0.2 } as const
/** Counts below which a share says nothing. */
export const MIN = { outcomes: 200, bounces: 20, complaints: 5, attempts: 200, deferrals: 50 } as const
/** Many unknown recipients within an hour: an old or bought list, or a form that robots fill in. */
const STORM = { bounces: 50, share: 0.1 } as const
/** Much more mail than in any hour of the month before: perhaps the key was stolen. */
const SLOPE = { accepted: 1000, times: 10, allowed: 2 } as const
/** Messages accepted within an hour of the clock from which an account is evaluated: the last 60 minutes may be in two of them. */
export const JUDGED_VOLUME = SLOPE.accepted / 2
/** Messages per hour that an account is never slowed below. */
const MIN_RATE = 200

const RANKS: Readonly<Record<HoldLevel, number>> = { warned: 1, slowed: 2, held: 3 }

/** Whether `one` is a stricter level than `other`. */
export function isStricter(one: HoldLevel, other: HoldLevel | undefined): boolean {
  return RANKS[one] > (other === undefined ? 0 : RANKS[other])
}

export interface ProviderDeferrals {
  readonly provider: string
  readonly attempts: number
  readonly deferred: number
}

export interface Evaluated {
  readonly figures: Figures
  readonly rules: ReputationRules
  /** Complaints and deliveries at providers that report complaints; undefined if there are too few complaints to matter. */
  readonly complaints: { readonly complained: number; readonly delivered: number } | undefined
  /** Attempts of the last 24 hours at the providers that deferred many because of a filter or policy. */
  readonly deferrals: readonly ProviderDeferrals[]
  /** Whether bulk mail has been held because of bounces for an hour. */
  readonly isBulkHeld: boolean
}

/**
 * Returns what the rules say. With `standard`: a warning at 4 % hard bounces or 0.1 % complaints of the last 24 hours (or the last 1000 outcomes),
 * slower mail at 6 % or 0.3 %, and bulk mail held (and normal mail slowed) at 10 % or 0.5 %; if bulk mail was held for an hour and bounces go on,
 * normal mail, too. Held at once, urgent mail included: 50 hard bounces in an hour if they are 10 %. Slowed: ten times the mail of the busiest hour
 * of the month. `strict` halves the shares; `none` only warns. If a provider defers 20 % of the attempts, there is a warning only.
 */
export function applyRules(evaluated: Evaluated): Verdict[] {
  const factor = evaluated.rules === 'strict' ? 0.5 : 1
  const verdicts = [
    storm(evaluated, factor),
    slope(evaluated),
    bounces(evaluated, factor),
    complaints(evaluated, factor),
    deferrals(evaluated, factor),
  ]
  return verdicts
    .filter((verdict) => verdict !== undefined)
    .map((verdict) => (evaluated.rules === 'none' ? { ...verdict, level: 'warned', classes: [], rate: null } : verdict))
}

/** Returns the shares from which a rule warns, slows and holds; undefined for rules without. */
export function limitsOf(
  rule: string,
  rules: ReputationRules,
): Readonly<Partial<Record<HoldLevel, number>>> | undefined {
  const factor = rules === 'strict' ? 0.5 : 1
  const limits: Readonly<Record<string, Readonly<Partial<Record<HoldLevel, number>>>>> = {
    bounces: BOUNCES,
    complaints: COMPLAINTS,
    'policy-deferrals': DEFERRALS,
  }
  const of = Object.hasOwn(limits, rule) ? limits[rule] : undefined
  return of && Object.fromEntries(Object.entries(of).map(([level, share]) => [level, share * factor]))
}

/** Returns what the rules say with half of the limits: whether a hold still has its reason. */
export function applyRecoveryRules(evaluated: Evaluated): Verdict[] {
  return [bounces, complaints, deferrals]
    .map((rule) => rule(evaluated, evaluated.rules === 'strict' ? 0.25 : 0.5))
    .filter((one) => !!one)
}

function storm({ figures: { lastHour } }: Evaluated, factor: number): Verdict | undefined {
  const { hard, delivered } = lastHour
  const share = shareOf(hard, hard + delivered)
  if (hard < STORM.bounces || share < STORM.share * factor) return undefined
  const classes = [URGENT, NORMAL, BULK] as const
  const figures = { bounces: hard, outcomes: hard + delivered, share: rounded(share) }
  return { rule: 'unknown-recipients', level: 'held', classes, rate: null, figures }
}

function slope({ figures: { lastHour, busiestHour } }: Evaluated): Verdict | undefined {
  const { accepted } = lastHour
  if (!busiestHour || accepted <= SLOPE.accepted || accepted <= SLOPE.times * busiestHour) return undefined
  // Not slower than what never was too much.
  const rate = Math.max(SLOPE.accepted, SLOPE.allowed * busiestHour)
  return { rule: 'sudden-volume', level: 'slowed', classes: [NORMAL, BULK], rate, figures: { accepted, busiestHour } }
}

function bounces(
  { figures: { recent, lastHour, deliveredPerHour }, isBulkHeld }: Evaluated,
  factor: number,
): Verdict | undefined {
  const { hard, delivered } = recent
  const share = shareOf(hard, hard + delivered)
  if (hard + delivered < MIN.outcomes || hard < MIN.bounces) return undefined
  const figures = { bounces: hard, outcomes: hard + delivered, share: rounded(share) }
  const goesOn =
    lastHour.hard >= MIN.bounces && shareOf(lastHour.hard, lastHour.hard + lastHour.delivered) >= BOUNCES.held * factor
  return verdictOf('bounces', levelOf(share, BOUNCES, factor), figures, {
    held: isBulkHeld && goesOn ? [NORMAL, BULK] : [BULK],
    rate: deliveredPerHour / 2,
  })
}

function complaints({ figures: { deliveredPerHour }, complaints }: Evaluated, factor: number): Verdict | undefined {
  if (!complaints || complaints.complained < MIN.complaints) return undefined
  const share = shareOf(complaints.complained, complaints.delivered)
  const level = levelOf(share, COMPLAINTS, factor)
  return verdictOf(
    'complaints',
    level,
    { ...complaints, share: rounded(share) },
    { held: [BULK], rate: deliveredPerHour / 2 },
  )
}

/** The figures have the share of each such provider by its name. */
function deferrals({ deferrals }: Evaluated, factor: number): Verdict | undefined {
  const many = deferrals.filter(
    ({ attempts, deferred }) =>
      attempts >= MIN.attempts && deferred >= MIN.deferrals && shareOf(deferred, attempts) >= DEFERRALS.warned * factor,
  )
  if (many.length === 0) return undefined
  const sum = (of: 'attempts' | 'deferred') => many.reduce((total, one) => total + one[of], 0)
  const shares = many.map(({ provider, attempts, deferred }) => [provider, rounded(shareOf(deferred, attempts))])
  const figures = { deferred: sum('deferred'), attempts: sum('attempts'), ...Object.fromEntries(shares) }
  return { rule: 'policy-deferrals', level: 'warned', classes: [], rate: null, figures }
}

function verdictOf(
  rule: HoldRule,
  level: HoldLevel | undefined,
  figures: Verdict['figures'],
  { held, rate }: { readonly held: readonly DeliveryClass[]; readonly rate: number },
): Verdict | undefined {
  if (level === undefined) return undefined
  if (level === 'warned') return { rule, level, classes: [], rate: null, figures }
  const slowedTo = Math.max(MIN_RATE, Math.round(rate))
  if (level === 'slowed') return { rule, level, classes: [NORMAL, BULK], rate: slowedTo, figures }
  return { rule, level, classes: held, rate: held.includes(NORMAL) ? null : slowedTo, figures }
}

function levelOf(share: number, limits: Readonly<Record<HoldLevel, number>>, factor: number): HoldLevel | undefined {
  return (['held', 'slowed', 'warned'] as const).find((level) => share >= limits[level] * factor)
}

function shareOf(part: number, whole: number): number {
  return whole === 0 ? (part > 0 ? 1 : 0) : part / whole
}

function rounded(share: number): number {
  return Math.round(share * 1e5) / 1e5
}
