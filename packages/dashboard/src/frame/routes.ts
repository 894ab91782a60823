import type { Answer } from './answer.ts'
import type { AccountCall, Call, UserCall } from './call.ts'
import type { Right } from './right.ts'

interface Route {
  readonly method: 'GET' | 'POST'
  /** Path below /app, or below /app/ACCOUNT. */
  readonly path: string
}

/** A page for everybody: log-in, invitations. */
export interface OpenRoute extends Route {
  readonly for: 'everybody'
  readonly act: (call: Call) => Promise<Answer>
}

/** A page of the visitor, of no account: security, the choice of the account. */
export interface UserRoute extends Route {
  readonly for: 'users'
  readonly act: (call: UserCall) => Promise<Answer>
}

/** A page of an account. */
export interface AccountRoute extends Route {
  readonly for: 'account'
  /** The right that the visitor's role must have; null: every member of the account. */
  readonly right: Right | null
  /** Whether what the page lists may be some seconds old. */
  readonly mayBeOld?: boolean
  readonly act: (call: AccountCall) => Promise<Answer>
}

/** A page of those who operate the installation. */
export interface OperatorRoute extends Route {
  readonly for: 'operators'
  readonly act: (call: UserCall) => Promise<Answer>
}

export type DashboardRoute = OpenRoute | UserRoute | AccountRoute | OperatorRoute

type Given<R extends { readonly act: unknown }> = R['act']

export const everybody = (method: Route['method'], path: string, act: Given<OpenRoute>): OpenRoute => ({
  for: 'everybody',
  method,
  path,
  act,
})
export const users = (method: Route['method'], path: string, act: Given<UserRoute>): UserRoute => ({
  for: 'users',
  method,
  path,
  act,
})
export const account = (
  method: Route['method'],
  path: string,
  right: Right | null,
  act: Given<AccountRoute>,
  options: Pick<AccountRoute, 'mayBeOld'> = {},
): AccountRoute => ({ for: 'account', method, path, right, act, ...options })
export const operators = (method: Route['method'], path: string, act: Given<OperatorRoute>): OperatorRoute => ({
  for: 'operators',
  method,
  path,
  act,
})
