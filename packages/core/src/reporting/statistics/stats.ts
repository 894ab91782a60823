import type { BounceClassification } from '../events/index.ts'
import type { DeliveryTime } from './delivery-times.ts'
import type { Counts, Subject } from './metrics.ts'
import type { Period, Span } from './periods.ts'
import type { AsOf, Order } from './read.ts'

/** The requested counts: of all mail, of one name, of some names, of groups of names or of each name. */
export type Wanted =
  | { readonly kind: 'total' }
  | { readonly kind: 'one'; readonly subject: Subject; readonly name: string }
  | { readonly kind: 'some'; readonly subject: Subject; readonly names: readonly string[] }
  | {
      readonly kind: 'groups'
      readonly subject: Subject
      /** The names of each group, which are counted together. */
      readonly groups: ReadonlyMap<string, readonly string[]>
      /** Name of the group of all other names. */
      readonly others: string
    }
  | { readonly kind: 'each'; readonly subject: Subject | 'subaccount' }

export interface BouncesRequest extends Pick<Question, 'accountId' | 'first' | 'last'> {
  readonly classification: BounceClassification | undefined
}

export interface Question {
  readonly accountId: number
  /** User name of a subaccount that is queried instead of the account. */
  readonly subaccount?: string | undefined
  /** `yyyy-mm-dd` in the account's time zone. */
  readonly first: string
  /** Inclusive; undefined for today, or the first day if that is later. */
  readonly last?: string | undefined
  /** Whether to include delivery times. */
  readonly times?: boolean
  readonly limit: number
  readonly offset: number
}

export interface StatsQuery extends Question {
  readonly wanted: Wanted
  readonly period: Period
}

export interface SumsQuery extends Question {
  readonly subject: Subject
  /** Only this name; if undefined, all names in the given order. */
  readonly name?: string | undefined
  /** The default is most delivered mail first. The sum of all names that are not counted separately is always last. */
  readonly order?: Order
}

export interface NamedCounts {
  /** Null for the sum of all names that are not counted or not returned separately. */
  readonly name: string | null
  readonly counts: Counts
  /** Null if nothing was delivered or if it was not requested. */
  readonly deliveryTime: DeliveryTime | null
}

export interface StatsAnswer {
  readonly periods: readonly { readonly date: string; readonly stats: readonly NamedCounts[] }[]
  /** Number of periods in the date range. */
  readonly total: number
  readonly asOf: AsOf
}

export interface SumsAnswer extends Span {
  readonly stats: readonly NamedCounts[]
  /** Number of names. */
  readonly total: number
  readonly asOf: AsOf
}
