import type { Core, Principal, Reads, Scope } from '@postrider/core'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Static, TObject, TSchema } from 'typebox'

/**
 * Definition of one v3 operation. Routes, 405 responses, validation, the required scope, the conformance page and the tests of
 * account isolation are all derived from it.
 */
export interface Operation<
  Params extends TObject = TObject,
  Query extends TObject = TObject,
  Body extends TSchema = TSchema,
> {
  /** A unique verb and noun: `addTemplateVersion`. */
  readonly name: string
  readonly summary: string
  /** The command that does the same, as its name (`template create`), or why there is none. */
  readonly cli: string | { readonly none: string }
  /** Section of the contract: `3.3`. */
  readonly section: string
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  /** Path below /v3. GET also serves HEAD; any other method of a path returns 405. */
  readonly path: string
  /** Scope that the key must have, in the service's terms; null: any key. */
  readonly scope: Exclude<Scope, 'all'> | null
  /** v3's name of the permission, as clients read it in GET /v3/scopes: `templates.versions.create`; null if it has none. */
  readonly right: string | null
  /** A second name of the permission. */
  readonly alsoRight?: string
  /** Schema of the path parameters. A mismatch returns 404. */
  readonly params?: Params
  /**
   * Schema of the query. Text is converted to the type given here. `a=1&a=2`, `a[]=1&a[]=2` and a single `a=1` become the list
   * [1, 2] or [1] if the schema has a list. Unknown keys are ignored.
   */
  readonly query?: Query
  /** Schema of the body; an empty body is {}. Without a schema, the body is `undefined`, or any JSON if `anyBody` is set. */
  readonly body?: Body
  readonly anyBody?: true
  /** Error texts for a missing or invalid field, by path; the default text depends on the kind of error. */
  readonly wrong?: Readonly<Record<string, string>>
  /** Status of the answer to a valid call. 204 has no body; with 400 every call is refused, and the message says what to do instead. */
  readonly status: 200 | 201 | 202 | 204 | 400
  /**
   * Whether the operation sends mail. It is then charged against the account's message limit rather than its call limit, and
   * sends no rate limit headers (contract 1.6).
   */
  readonly sends?: true
  /** Returns the JSON of the response, as a value, or in bytes with its media type set; undefined if there is none. Throws ServiceError and V3Refusal. */
  readonly act: (
    input: { readonly params: Static<Params>; readonly query: Static<Query>; readonly body: Static<Body> },
    call: Call,
  ) => Promise<unknown>
}

/** The caller, its address and everything needed to respond. */
export interface Call {
  readonly core: Core
  /** For what may be some seconds old. The response then says as of when it is. */
  readonly reads: Reads
  readonly principal: Principal
  /** Actor for the audit log. */
  readonly by: { readonly keyId: number; readonly address: string }
  /** Base URL of the service, without a trailing slash. */
  readonly publicUrl: string
  /** Returns v3's names of the permissions in these scopes (30 µs: all operations are looked at), and the scope to which a name belongs. */
  readonly rightsOf: (scopes: readonly Scope[]) => string[]
  readonly scopeOf: (right: string) => Exclude<Scope, 'all'> | undefined
  /** Returns v3's names of the changes that a scope permits and these permissions lack, one name for each. */
  readonly lackingOf: (scope: Exclude<Scope, 'all'>, rights: readonly string[]) => string[]
  /** Returns the scope with read access only to what `scope` covers; `scope` itself if it permits nothing else. */
  readonly readingOf: (scope: Exclude<Scope, 'all'>) => Exclude<Scope, 'all'>
  readonly request: FastifyRequest
  readonly reply: FastifyReply
}

/** Lets TypeScript infer the types of `act` from the schemas; the list of operations does not keep them. */
export function operation<
  Params extends TObject = TObject,
  Query extends TObject = TObject,
  Body extends TSchema = TSchema,
>(definition: Operation<Params, Query, Body>): Operation {
  return definition as unknown as Operation
}

declare module 'fastify' {
  interface FastifyContextConfig {
    readonly v3?: Operation
    /** Whether mail is sent at this path, for any method. */
    readonly sends?: boolean
  }
}
