import { CLASS_PROBLEM, classOf, isClassName } from '../../accounts/mail-class.ts'
import { type AnySql, onlyRow } from '../../platform/database/database.ts'
import { invalidParameter, ServiceError } from '../../platform/errors.ts'
import { BOUNCE_CLASSES, type BounceClass } from '../outcomes/bounce-rules.ts'
import { requireAccount } from '../require-account.ts'
import { poolNamed } from '../sources/change-egress.ts'
import { readEgress } from '../sources/egress.ts'
import { readDuration, readTime } from './duration.ts'
import type { JobFilter, QueueAction } from './job-filter.ts'

/** The selectors of a plan, as the operator gives them; all are combined. */
export interface Selectors {
  readonly place?: string | undefined
  readonly domain?: string | undefined
  readonly account?: number | undefined
  readonly class?: string | undefined
  readonly tag?: string | undefined
  /** A duration: accepted before that. */
  readonly older?: string | undefined
  /** Times in ISO 8601, or durations before now: when it bounced or expired. */
  readonly since?: string | undefined
  readonly until?: string | undefined
  readonly state?: string | undefined
  readonly bounceClass?: string | undefined
  /** Of `reroute`: the pool that the mail is to be sent from, or `none` to let rules choose. */
  readonly to?: string | undefined
  /** The whole queue, instead of other selectors. */
  readonly all?: boolean | undefined
}

export type SelectorName = Exclude<keyof Selectors, 'all' | 'to'>

const EVERY_ACTION = ['place', 'domain', 'account', 'class', 'tag'] as const
const OF_WAITING: readonly SelectorName[] = [...EVERY_ACTION, 'older']
const OF_FINISHED: readonly SelectorName[] = [...EVERY_ACTION, 'since', 'until', 'state', 'bounceClass']

const MAX_LENGTH = 300
const DAY_MS = 86_400_000

/** Whether anything is selected other than `all`. */
export function hasSelectors({ all: _, to: __, ...selectors }: Selectors): boolean {
  return Object.values(selectors).some((value) => value !== undefined)
}

export interface SelectorContext {
  readonly sql: AnySql
  /** Days for which bodies are kept. */
  readonly bodyDays: number
}

/** Returns the filter of these selectors. Throws parameterInvalid and parameterMissing, which name the selector. */
export async function readSelectors(
  { sql, bodyDays }: SelectorContext,
  action: QueueAction,
  selectors: Selectors,
): Promise<JobFilter> {
  requireFitting(action, selectors)
  for (const name of ['place', 'domain', 'tag'] as const) requireLength(name, selectors[name])
  const { account, place, tag, older } = selectors
  await requireAccount(sql, account)
  const { now } = onlyRow(await sql<{ now: Date }[]>`select service_now() as now`)
  const before =
    older === undefined ? undefined : new Date(now.getTime() - readDuration('older', older) * 1000).toISOString()
  return {
    place,
    domain: selectors.domain?.toLowerCase(),
    accountId: account,
    class: readClass(selectors.class),
    tag,
    before,
    state: readOneOf('state', ['bounced', 'expired'], selectors.state),
    bounceClass: readOneOf<BounceClass>('bounceClass', BOUNCE_CLASSES, selectors.bounceClass),
    ...(action === 'requeue' ? readPeriod(selectors, now, bodyDays) : {}),
    ...(action === 'reroute' ? { toPool: await readPool(sql, selectors.to) } : {}),
  }
}

function requireFitting(action: QueueAction, selectors: Selectors): void {
  const fitting = action === 'requeue' ? OF_FINISHED : OF_WAITING
  for (const [name, value] of Object.entries(selectors)) {
    if (
      value === undefined ||
      name === 'all' ||
      (name === 'to' && action === 'reroute') ||
      fitting.includes(name as SelectorName)
    )
      continue
    throw invalidParameter(name, `is not a selector of ${action}`)
  }
  if (action === 'requeue') {
    if (selectors.all) throw invalidParameter('all', 'is not a selector of requeue')
    if (selectors.since === undefined) throw new ServiceError('parameterMissing', { values: { parameter: 'since' } })
    if (selectors.state === 'expired' && selectors.bounceClass !== undefined) {
      throw invalidParameter('bounceClass', 'cannot be combined with the state expired')
    }
    return
  }
  if (selectors.all && hasSelectors(selectors)) {
    throw invalidParameter('all', 'cannot be combined with other selectors')
  }
  if (!selectors.all && !hasSelectors(selectors)) {
    throw invalidParameter('all', 'must be given if there is no other selector')
  }
}

/** Throws parameterInvalid and parameterMissing. */
async function readPool(sql: AnySql, name: string | undefined): Promise<number | null> {
  if (name === undefined) throw new ServiceError('parameterMissing', { values: { parameter: 'to' } })
  return name === 'none' ? null : poolNamed(await readEgress(sql), name, 'to').id
}

function requireLength(name: string, text: string | undefined): void {
  if (text !== undefined && (text === '' || text.length > MAX_LENGTH)) {
    throw invalidParameter(name, `must have 1 to ${MAX_LENGTH} characters`)
  }
}

function readClass(text: string | undefined): JobFilter['class'] {
  if (text === undefined) return undefined
  if (!isClassName(text)) throw invalidParameter('class', CLASS_PROBLEM)
  return classOf(text)
}

function readOneOf<T extends string>(name: string, values: readonly T[], text: string | undefined): T | undefined {
  if (text === undefined) return undefined
  const found = values.find((value) => value === text)
  if (!found) throw invalidParameter(name, `must be one of ${values.join(', ')}`)
  return found
}

/** The period ends now at the latest, so that what bounces after the plan, or again after the requeue, does not belong to it. */
function readPeriod(selectors: Selectors, now: Date, bodyDays: number): Pick<JobFilter, 'since' | 'until'> {
  const since = readTime('since', selectors.since as string, now)
  const until = selectors.until === undefined ? now : readTime('until', selectors.until, now)
  if (now.getTime() - since.getTime() > bodyDays * DAY_MS) {
    throw invalidParameter('since', `must not be more than ${bodyDays} days ago, for which bodies are kept (BODY_DAYS)`)
  }
  if (since >= now) throw invalidParameter('since', 'must be in the past')
  if (until <= since) throw invalidParameter('until', 'must be after since')
  return { since: since.toISOString(), until: (until < now ? until : now).toISOString() }
}
