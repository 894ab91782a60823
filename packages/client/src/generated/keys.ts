// Generated from the operations of the v2 API by `npm run docs`. Edit those, not this file.
import type { Call, CallOptions } from '../call.ts'

export interface Restrictions {
  readonly templates?: readonly number[] | undefined
  readonly sender_domains?: readonly string[] | undefined
  readonly recipient_domains?: readonly string[] | undefined
  readonly recipients_per_hour?: number | undefined
  readonly calls_per_minute?: number | undefined
  readonly class?: string | undefined
  readonly keep_content?: boolean | undefined
  readonly until?: string | undefined
}

export interface Key {
  readonly id: number
  readonly name: string
  /** first characters of the secret */
  readonly prefix: string
  readonly scopes: readonly string[]
  /** empty: any address */
  readonly networks: readonly string[]
  readonly restrictions: Restrictions
  readonly state: 'active' | 'expired' | 'revoked'
  readonly created_at: string
  /** accurate to one minute */
  readonly last_used_at: string | null
  readonly revoked_at: string | null
  /** after a rotation: id of the successor */
  readonly replaced_by: number | null
}

export interface RestrictionsGiven {
  readonly templates?: readonly number[] | null | undefined
  readonly sender_domains?: readonly string[] | string | null | undefined
  readonly recipient_domains?: readonly string[] | string | null | undefined
  readonly recipients_per_hour?: number | null | undefined
  readonly calls_per_minute?: number | null | undefined
  readonly class?: string | null | undefined
  readonly keep_content?: false | null | undefined
  readonly until?: string | null | undefined
}

export interface CreateKeyInput {
  readonly name: string
  /** operation groups, or all */
  readonly scopes?: readonly string[] | string | undefined
  readonly networks?: readonly string[] | string | null | undefined
  /** omitted restrictions are unchanged; null removes one */
  readonly restrictions?: RestrictionsGiven | null | undefined
}

export type CreateKeyData = {
  readonly id: number
  readonly name: string
  /** first characters of the secret */
  readonly prefix: string
  readonly scopes: readonly string[]
  /** empty: any address */
  readonly networks: readonly string[]
  readonly restrictions: Restrictions
  readonly state: 'active' | 'expired' | 'revoked'
  readonly created_at: string
  /** accurate to one minute */
  readonly last_used_at: string | null
  readonly revoked_at: string | null
  /** after a rotation: id of the successor */
  readonly replaced_by: number | null
  /** shown only once */
  readonly api_key: string
}

export interface ListKeysInput {
  /** keys with a larger id */
  readonly after?: number | undefined
  /** at most 1000; default 100 */
  readonly limit?: number | string | null | undefined
}

export type ListKeysData = readonly Key[]

export interface UpdateKeyInput {
  readonly id: number
  readonly name?: string | undefined
  /** operation groups, or all */
  readonly scopes?: readonly string[] | string | undefined
  readonly networks?: readonly string[] | string | null | undefined
  /** omitted restrictions are unchanged; null removes one */
  readonly restrictions?: RestrictionsGiven | null | undefined
}

export type UpdateKeyData = Key

export interface RotateKeyInput {
  readonly id: number
  /** default 24; 0 revokes the old key immediately */
  readonly overlap_hours?: number | undefined
}

export type RotateKeyData = {
  readonly id: number
  readonly name: string
  /** first characters of the secret */
  readonly prefix: string
  readonly scopes: readonly string[]
  /** empty: any address */
  readonly networks: readonly string[]
  readonly restrictions: Restrictions
  readonly state: 'active' | 'expired' | 'revoked'
  readonly created_at: string
  /** accurate to one minute */
  readonly last_used_at: string | null
  readonly revoked_at: string | null
  /** after a rotation: id of the successor */
  readonly replaced_by: number | null
  /** shown only once */
  readonly api_key: string
  readonly replaces: Key
}

export interface RevokeKeyInput {
  readonly id: number
}

export type RevokeKeyData = Key

export type ShowKeyData = {
  readonly id: number
  /** as they were given to the key */
  readonly scopes: readonly string[]
  /** all scopes that it has by them */
  readonly allowed: readonly string[]
  readonly restrictions: Restrictions
  readonly account: {
    readonly id: number
    readonly name: string
    readonly state: 'active' | 'suspended'
    /** false if it is suspended or has expired */
    readonly maySend: boolean
    /** of a subaccount: the account above it */
    readonly parent: number | null
  }
}

export class Keys {
  readonly #call: Call

  constructor(call: Call) {
    this.#call = call
  }

  /** Create an API key. The secret is shown once; omitted settings are inherited from the calling key. Needs the scope keys. */
  create(input: CreateKeyInput, options?: CallOptions): Promise<CreateKeyData> {
    return this.#call({ method: 'POST', path: '/keys' }, input, options)
  }

  /** List the API keys, oldest first, without their secrets. Needs the scope keys. */
  list(input: ListKeysInput = {}, options?: CallOptions): Promise<ListKeysData> {
    return this.#call({ method: 'GET', path: '/keys' }, input, options)
  }

  /** Change the name, scopes, networks or restrictions of a key. Takes effect within 5 seconds. Needs the scope keys. */
  update(input: UpdateKeyInput, options?: CallOptions): Promise<UpdateKeyData> {
    return this.#call({ method: 'PATCH', path: '/keys/:id' }, input, options)
  }

  /** Rotate a key: create a successor with the same permissions. The old key stays valid for a grace period. Needs the scope keys. */
  rotate(input: RotateKeyInput, options?: CallOptions): Promise<RotateKeyData> {
    return this.#call({ method: 'POST', path: '/keys/rotate' }, input, options)
  }

  /** Revoke a key. Takes effect within 5 seconds. Needs the scope keys. */
  revoke(input: RevokeKeyInput, options?: CallOptions): Promise<RevokeKeyData> {
    return this.#call({ method: 'DELETE', path: '/keys/:id' }, input, options)
  }

  /** Show what the calling key is allowed to do. Any key can call this. */
  show(options?: CallOptions): Promise<ShowKeyData> {
    return this.#call({ method: 'GET', path: '/key' }, {}, options)
  }
}
