import type { ServiceMail } from '../messages/service-mail.ts'
import type { Config } from '../platform/config/config.ts'
import { type FeedbackOfReporter, selectFeedback } from './feedback.ts'
import { type Forwarded, forwardSome } from './forward.ts'
import { type RereadCount, type RereadFilter, rereadReturns } from './reread-returns.ts'
import { isRoleName, type ReturnAddress, readReturnAddress } from './return-address.ts'
import { createReturnReader } from './return-reader.ts'
import type { ReturnKind, ReturnResult } from './return-result.ts'
import {
  deleteOldReturns,
  deleteReturns,
  type KeptReturn,
  type ReturnFilter,
  type StoredReturn,
  selectReturn,
  selectReturns,
} from './store.ts'
import { type ReturnDependencies, type TakenReturn, takeReturn } from './take-return.ts'

export * from './aggregate/index.ts'
export type { FeedbackOfReporter } from './feedback.ts'
export type { Forwarded } from './forward.ts'
export * from './read/index.ts'
export type { RereadCount, RereadFilter } from './reread-returns.ts'
export type { ReturnAddress } from './return-address.ts'
export { isReportRole } from './return-address.ts'
export {
  type Forward,
  isTemporary,
  NO_EFFECT,
  RETURN_KINDS,
  type ReturnEffect,
  type ReturnKind,
  type ReturnResult,
} from './return-result.ts'
export type { KeptReturn, ReturnFilter, StoredReturn } from './store.ts'
export type { TakenReturn } from './take-return.ts'

/** Mail that comes back: bounce reports, complaints, automatic replies, letters to the operator. */
export interface Returns {
  /** Returns what mail to this address is about; undefined if none is taken for it. Asks no database. */
  addressOf(address: string): ReturnAddress | undefined
  /** See return-address.ts. */
  isRoleName(address: string): boolean
  /** See take-return.ts. */
  take(taken: TakenReturn): Promise<ReturnResult>
  /** Returns the newest first. */
  list(filter: ReturnFilter): Promise<StoredReturn[]>
  /** Returns a stored return with the content that is kept; undefined if it does not exist. */
  show(id: string): Promise<KeptReturn | undefined>
  /** See reread-returns.ts. */
  reread(filter: RereadFilter, onProgress?: (count: RereadCount) => void): Promise<RereadCount>
  /** See forward.ts. */
  forwardSome(): Promise<Forwarded | undefined>
  /** Returns the stored complaints by the domain that sent them, most first. */
  feedback(): Promise<FeedbackOfReporter[]>
  /** Deletes those of a kind, from one domain if it is given. Returns their number. */
  delete(kind: ReturnKind, reporter?: string): Promise<number>
  /** Deletes some that are older than RETURN_DAYS. Returns their number. */
  forgetOld(): Promise<number>
  close(): Promise<void>
}

export interface ReturnsOptions extends Omit<ReturnDependencies, 'reader' | 'config' | 'hardBounceDays' | 'forwards'> {
  /** If omitted, letters are only kept. */
  readonly serviceMail?: ServiceMail
  /** Letters that are passed on in an hour; used by tests. */
  readonly lettersPerHour?: number
  readonly config: Pick<Config, 'returnPathHost' | 'heloName' | 'hardBounceDays' | 'returnDays'>
}

export function createReturns(options: ReturnsOptions): Returns {
  const { sql, config } = options
  const { hardBounceDays, returnDays } = config
  const reader = createReturnReader()
  const dependencies: ReturnDependencies = {
    ...options,
    hardBounceDays,
    reader,
    forwards: options.serviceMail?.operatorMail !== undefined,
  }
  return {
    addressOf: (address) => readReturnAddress(dependencies, address),
    isRoleName,
    take: (taken) => takeReturn(dependencies, taken),
    list: (filter) => selectReturns(sql, filter),
    show: (id) => selectReturn(sql, id),
    reread: (filter, onProgress) => rereadReturns(dependencies, filter, onProgress),
    async forwardSome() {
      const { serviceMail, lettersPerHour: perHour } = options
      return serviceMail && forwardSome({ ...dependencies, serviceMail, perHour })
    },
    feedback: () => selectFeedback(sql),
    async delete(kind, reporter) {
      let deleted = 0
      for (let more = 1; more > 0; deleted += more) more = await deleteReturns(sql, kind, reporter)
      return deleted
    },
    forgetOld: () => deleteOldReturns(sql, returnDays),
    close: () => reader.close(),
  }
}
