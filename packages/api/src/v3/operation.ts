import type { Core, Principal, Scope } from '@postrider/core'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Static, TObject, TSchema } from 'typebox'

/**
 * One operation of the v3 interface, told once. Routes, 405, the shape ring, the key's scope, the conformance page and the
 * tests of the wall between accounts are all made from it.
 */
export interface Operation<
  Params extends TObject = TObject,
  Query extends TObject = TObject,
  Body extends TSchema = TSchema,
> {
  /** A verb and a noun, no two the same: `addTemplateVersion`. */
  readonly name: string
  readonly summary: string
  /** Of the contract: `3.3`. */
  readonly section: string
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  /** Below /v3. GET answers HEAD too; any other method of a path is 405. */
  readonly path: string
  /** What the key must allow, in our words; null: any key. */
  readonly scope: Exclude<Scope, 'all'> | null
  /** v3's own name of that right, as clients read it in GET /v3/scopes: `templates.versions.create`. Null: it has none. */
  readonly right: string | null
  /** Another name of it. */
  readonly alsoRight?: string
  /** Of the path. What does not fit is something that never was: 404. */
  readonly params?: Params
  /**
   * Text is read as the type that stands here; `a=1&a=2`, `a[]=1&a[]=2` and a single `a=1` are the list [1, 2] or [1] where a list
   * stands here. Keys that don't stand here are ignored.
   */
  readonly query?: Query
  /** An empty body is {}. Without a schema the body is `undefined`, or whatever JSON came where `anyBody` is set. */
  readonly body?: Body
  readonly anyBody?: true
  /** What is said of a field that is missing or wrong, by its path; there is a sentence for each kind of mistake otherwise. */
  readonly wrong?: Readonly<Record<string, string>>
  /** The status of success; an answer of 204 is empty. */
  readonly status: 200 | 201 | 202 | 204
  /** It offers mail: it draws on the sends of the account, not on its calls, and says nothing of its standing (contract 1.6). */
  readonly sends?: true
  /** Answers what goes out as JSON; undefined: nothing. Throws ServiceError and V3Refusal. */
  readonly act: (
    input: { readonly params: Static<Params>; readonly query: Static<Query>; readonly body: Static<Body> },
    call: Call,
  ) => Promise<unknown>
}

/** Who calls, from where, and what it takes to answer. */
export interface Call {
  readonly core: Core
  readonly principal: Principal
  /** For the audit log. */
  readonly by: { readonly keyId: number; readonly address: string }
  /** The service's own base URL, without a slash at its end. */
  readonly publicUrl: string
  /** v3's names of all that the key allows; of a key made here, those it was asked for. */
  readonly rights: readonly string[]
  /** v3's names of what these scopes allow, and the scope that one of them belongs to. */
  readonly rightsOf: (scopes: readonly Scope[]) => string[]
  readonly scopeOf: (right: string) => Exclude<Scope, 'all'> | undefined
  /** v3's names, one for each, of the changes that a scope allows and these rights do not. */
  readonly lackingOf: (scope: Exclude<Scope, 'all'>, rights: readonly string[]) => string[]
  /** The scope that allows no more than reading what `scope` is about; `scope` itself where it does no more. */
  readonly readingOf: (scope: Exclude<Scope, 'all'>) => Exclude<Scope, 'all'>
  readonly request: FastifyRequest
  readonly reply: FastifyReply
}

/** Lets TypeScript infer `act` from the schemas; the list of operations then forgets their types. */
export function operation<
  Params extends TObject = TObject,
  Query extends TObject = TObject,
  Body extends TSchema = TSchema,
>(told: Operation<Params, Query, Body>): Operation {
  return told as unknown as Operation
}

declare module 'fastify' {
  interface FastifyContextConfig {
    readonly v3?: Operation
    /** Of a v3 path, whatever the method: mail is offered there. */
    readonly sends?: boolean
  }
}
