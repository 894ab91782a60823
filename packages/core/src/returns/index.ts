import { type ReturnDependencies, type ReturnResult, type TakenReturn, takeReturn } from './take-return.ts'

export * from './read/index.ts'
export { NO_EFFECT, type ReturnEffect } from './return-effect.ts'
export type { ReturnResult, TakenReturn } from './take-return.ts'

/** Bounce reports and complaints. */
export interface Returns {
  /** See take-return.ts. */
  take(taken: TakenReturn): Promise<ReturnResult>
}

export function createReturns(dependencies: ReturnDependencies): Returns {
  return { take: (taken) => takeReturn(dependencies, taken) }
}
