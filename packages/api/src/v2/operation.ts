import type { Readable } from 'node:stream'
import type { Core, ErrorName, Principal, Scope } from '@postrider/core'
import type { FastifyReply, FastifyRequest, HTTPMethods } from 'fastify'
import type { Static, TObject, TSchema } from 'typebox'
import type { OperationGroup } from './envelope.ts'

/**
 * One operation of the v2 interface, told once. Routes, 405, the shape ring, the key's scope, the OpenAPI document and the
 * tests of the wall between accounts are all made from it.
 */
export interface Operation<Input extends TObject = TObject, Answer extends TSchema = TSchema> {
  /** Its id in the OpenAPI document, as a verb and a noun: `createTemplate`. */
  readonly name: string
  readonly summary: string
  readonly group: OperationGroup
  readonly scope: Exclude<Scope, 'all'>
  /** Paths below /v2 with the methods each takes; the first is the one the documentation shows, and one takes POST (contract section 22). */
  readonly routes: readonly Route[]
  /**
   * The parameters, wherever they come from: path, query, JSON or form, the former winning. Text of a path, query or form is
   * read as the type that stands here (`42`, `true`, `a,b`). A parameter whose absence has a code of its own is optional here.
   */
  readonly input: Input
  /** What `data` holds. */
  readonly answer: Answer
  /** Where the contract has something else stand beside `data` than a success's message and error_info. */
  readonly envelope?: Envelope
  /** Rows of the error table it may answer, besides those of every call. */
  readonly errors: readonly ErrorName[]
  readonly example: { readonly input: Static<Input>; readonly data: Static<Answer> }
  /**
   * The body is of this type and of any length: `act` reads it from `call.request.body`, a Readable, as it comes, and the
   * parameters stand in path and query.
   */
  readonly takes?: 'text/csv'
  /**
   * The answer is of the first of these types, or of the one `act` names: it answers a Readable, and `answer` and the
   * example's `data` are the text of the first.
   */
  readonly gives?: readonly StreamedType[]
  /** Called twice it acts twice, and it keeps no first answer: an Idempotency-Key, which promises that, is refused. */
  readonly creates?: boolean
  readonly act: (input: Static<Input>, call: Call) => Promise<Answered<Static<Answer>> | Streamed>
}

export interface Envelope {
  /** What stands beside `data`; `beside` of what `act` answers. */
  readonly beside: TObject
  readonly example: Readonly<Record<string, unknown>>
  /** True: instead of message and error_info. */
  readonly bare?: boolean
}
export type StreamedType = 'text/csv' | 'application/x-ndjson'

export type Route = readonly [path: string, ...methods: HTTPMethods[]]

/** Who calls, from where, and what it takes to answer. */
export interface Call {
  readonly core: Core
  readonly principal: Principal
  /** For the audit log. */
  readonly by: { readonly keyId: number; readonly address: string }
  readonly request: FastifyRequest
  readonly reply: FastifyReply
}

export interface Answered<Data> {
  readonly data: Data
  /** Of a list: how many there are in all. */
  readonly totalRecords?: number
  /** What the operation's own envelope has beside the data. */
  readonly beside?: Readonly<Record<string, unknown>>
}

export interface Streamed {
  readonly stream: Readable
  /** One of those the operation gives. Undefined: the first. */
  readonly type?: StreamedType
  readonly fileName: string
}

/** Lets TypeScript infer `act` from the schemas; the list of operations then forgets their types. */
export function operation<Input extends TObject, Answer extends TSchema>(told: Operation<Input, Answer>): Operation {
  return told as unknown as Operation
}
