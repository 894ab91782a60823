import type { Readable } from 'node:stream'
import type { Core, ErrorName, Principal, Reads, Scope } from '@postrider/core'
import type { FastifyReply, FastifyRequest, HTTPMethods } from 'fastify'
import type { Static, TObject, TSchema } from 'typebox'
import type { OperationGroup } from './envelope.ts'

/** A path below /v2 and its method. */
export type Spelling = readonly [path: string, method: string]

/**
 * Definition of one v2 operation. Routes, 405 responses, validation, the required scope, the OpenAPI document and the tests of
 * account isolation are all derived from it.
 */
export interface Operation<Input extends TObject = TObject, Answer extends TSchema = TSchema> {
  /** Its id in the OpenAPI document, a verb and noun: `createTemplate`. */
  readonly name: string
  readonly summary: string
  /** The command that does the same, as its name (`template create`), or why there is none. */
  readonly cli: string | { readonly none: string }
  readonly group: OperationGroup
  /** The scope that the key must have; null: any key. */
  readonly scope: Exclude<Scope, 'all'> | null
  /** Paths below /v2 with the methods of each. The first is the documented one, and one of them accepts POST (contract 22). */
  readonly routes: readonly Route[]
  /**
   * The parameters from path, query, JSON or form; the former takes precedence. Text from a path, query or form is converted to
   * the type given here (`42`, `true`, `a,b`). A parameter whose absence has its own error code is optional here.
   */
  readonly input: Input
  /** Schema of `data`. */
  readonly answer: Answer
  /** Set if the contract has other fields next to `data` than a success message and error_info. */
  readonly envelope?: Envelope
  /** Errors it can return, in addition to those of every call. */
  readonly errors: readonly ErrorName[]
  readonly example: { readonly input: Static<Input>; readonly data: Static<Answer> }
  /**
   * The body has this type and any length. `act` reads it from `call.request.body`, a Readable, as it arrives; the parameters are
   * in the path and query.
   */
  readonly takes?: 'text/csv'
  /**
   * The response has the first of these types, or the one that `act` names. `act` returns a Readable, and `answer` and the
   * example's `data` are text of the first type.
   */
  readonly gives?: readonly StreamedType[]
  /**
   * A repeated call has its effect again, since the first response is not stored. An Idempotency-Key, which promises otherwise,
   * is rejected.
   */
  readonly creates?: boolean
  /** Without one of its parameters it does more; see unknown-parameters.ts. */
  readonly narrows?: boolean
  /**
   * It submits mail: the rate limit of sends applies instead of that of calls, and an account that may not send is rejected before its
   * body is read. `input` is the body alone, as contract 4 spells it in JSON and forms; nothing is converted.
   */
  readonly submits?: {
    /** Throws the errors that take precedence over those of the schema. */
    readonly checkBody: (body: unknown) => void
  }
  /**
   * The body may also be a message of the type message/rfc822, or a form with one as a file. Then the parameters are in the query, or in the form.
   */
  readonly takesMessage?: boolean
  /** Its body has many messages: the limit of its length, in bytes, instead of that of one, and `act` checks each by itself. */
  readonly takesMany?: number
  /** It sends mail without a submission in its body: the rate limit of sends applies instead of that of calls. */
  readonly sends?: boolean
  readonly act: (input: Static<Input>, call: Call) => Promise<OperationResult<Static<Answer>> | Streamed>
}

export interface Envelope {
  /** Fields next to `data`, taken from `beside` of the result of `act`. */
  readonly beside: TObject
  readonly example: Readonly<Record<string, unknown>>
  /** Whether they replace message and error_info. */
  readonly bare?: boolean
}
export type StreamedType = 'text/csv' | 'application/x-ndjson' | 'message/rfc822' | 'application/octet-stream'

export type Route = readonly [path: string, ...methods: HTTPMethods[]]

/** The caller, its address and everything needed to respond. */
export interface Call {
  readonly core: Core
  /** For what may be some seconds old. The response then says as of when it is. */
  readonly reads: Reads
  readonly principal: Principal
  /** Actor for the audit log. */
  readonly by: { readonly keyId: number; readonly address: string; readonly agent: string | null }
  readonly request: FastifyRequest
  readonly reply: FastifyReply
}

export interface OperationResult<Data> {
  readonly data: Data
  /** Number of rows of a whole list. */
  readonly totalRecords?: number
  /** The fields that the operation's envelope has next to the data. */
  readonly beside?: Readonly<Record<string, unknown>>
}

export interface Streamed {
  readonly stream: Readable
  /** One of the types the operation can return; undefined: the first. */
  readonly type?: StreamedType
  readonly fileName: string
}

/** Lets TypeScript infer the types of `act` from the schemas; the list of operations does not keep them. */
export function operation<Input extends TObject, Answer extends TSchema>(
  definition: Operation<Input, Answer>,
): Operation {
  return definition as unknown as Operation
}
