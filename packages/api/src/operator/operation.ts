import type { Actor, Config, Core } from '@postrider/core'
import type { Static, TObject } from 'typebox'

/** Definition of one operation of the operator's interface. Routes, 405 responses, validation and its tests are derived from it. */
export interface Operation<Params extends TObject = TObject, Input extends TObject = TObject> {
  /** A unique verb and noun: `pausePlace`. */
  readonly name: string
  readonly summary: string
  /** The command that does the same, as its name (`queue pause`), or why there is none. */
  readonly cli: string | { readonly none: string }
  readonly method: 'GET' | 'POST'
  /** Path below /operator/v1. */
  readonly path: string
  /** Schema of the path parameters; text is converted to the type given here. */
  readonly params: Params
  /** Schema of the query (GET) or of the JSON body (POST). Other parameters are rejected. */
  readonly input: Input
  /** Returns the JSON of the response, which is that of the command with --json. Throws ServiceError and OperatorRefusal. */
  readonly act: (input: Static<Params> & Static<Input>, call: Call) => Promise<unknown>
}

export interface Call {
  readonly core: Core
  readonly config: Config
  /** Actor for the audit log. */
  readonly by: Actor
}

/** Lets TypeScript infer the types of `act` from the schemas; the list of operations does not keep them. */
export function operation<Params extends TObject, Input extends TObject>(
  definition: Operation<Params, Input>,
): Operation {
  return definition as unknown as Operation
}

declare module 'fastify' {
  interface FastifyContextConfig {
    readonly operator?: Operation
  }
}
