import type { ErrorRow } from './error-row.ts'
import { ERRORS } from './error-table.ts'

export type { ErrorGroup, ErrorRow } from './error-row.ts'
export { ERRORS }

export type ErrorName = keyof typeof ERRORS

export interface ServiceErrorDetails {
  /** Values for the `{…}` placeholders of the public text. */
  readonly values?: Readonly<Record<string, string | number>>
  /** Follows the public text, which clients may compare: what of the request is meant. */
  readonly about?: string
  /** The cause, for the log only. Never contains an address, a key or a body. */
  readonly reason?: string
  /** Seconds until the same call may succeed. */
  readonly retryAfter?: number
  readonly cause?: unknown
}

/** A client error: the request is invalid or not allowed, or cannot be served at present. Carries a row of the table. */
export class ServiceError extends Error {
  readonly row: ErrorRow
  readonly errorName: ErrorName
  /** Text of the SMTP reply, with its placeholders replaced. */
  readonly smtpText: string
  /** Values of the placeholders. */
  readonly values: NonNullable<ServiceErrorDetails['values']>
  readonly reason: string | undefined
  readonly retryAfter: number | undefined

  constructor(name: ErrorName, details: ServiceErrorDetails = {}) {
    super(
      fill(ERRORS[name].sentence, details.values) + (details.about === undefined ? '' : `: ${details.about}`),
      details.cause === undefined ? undefined : { cause: details.cause },
    )
    this.name = 'ServiceError'
    this.row = ERRORS[name]
    this.errorName = name
    this.values = details.values ?? {}
    const row: ErrorRow = ERRORS[name]
    this.smtpText = row.smtp.sentence === undefined ? this.message : fill(row.smtp.sentence, details.values)
    this.reason = details.reason
    this.retryAfter = details.retryAfter
  }

  /** Returns another text for this error, with its placeholders replaced. */
  fill(sentence: string): string {
    return fill(sentence, this.values)
  }
}

function fill(sentence: string, values: ServiceErrorDetails['values']): string {
  if (!values) return sentence
  return sentence.replace(/\{(\w+)\}/g, (whole, key: string) => String(values[key] ?? whole))
}

/** Characters of a parameter's name that an answer repeats: a file that is sent as a form is one name of megabytes. */
const MAX_NAME = 200

/** Returns a parameterInvalid error. `problem` is a predicate that follows the parameter's name: "must be a string". */
export function invalidParameter(parameter: string, problem: string): ServiceError {
  const isLong = parameter.length > MAX_NAME
  const shown = isLong ? `${parameter.slice(0, MAX_NAME).toWellFormed()}…` : parameter
  return new ServiceError('parameterInvalid', { values: { parameter: shown, problem } })
}
