import { ServiceError } from '@postrider/core'
import { WorkRefused } from './forms/large-work.ts'

/** The result of an action, or the sentence that says why core refused it. */
export type Attempt<T> =
  | { readonly ok: true; readonly value: T }
  | {
      readonly ok: false
      readonly problem: string
      readonly status: number
      readonly errorName: string
      readonly error?: ServiceError
    }

/** Does something that core may refuse because of what the visitor entered. Other errors are thrown. */
export async function attempt<T>(action: () => Promise<T>): Promise<Attempt<T>> {
  try {
    return { ok: true, value: await action() }
  } catch (error) {
    if (error instanceof WorkRefused && error.status < 500)
      return { ok: false, problem: error.message, status: error.status, errorName: '' }
    if (!(error instanceof ServiceError) || error.row.status >= 500) throw error
    return { ok: false, problem: error.message, status: error.row.status, errorName: error.errorName, error }
  }
}
