import type { Role } from './roles.ts'

/** A person who can log in. */
export interface User {
  readonly id: number
  readonly name: string
  /** Null for the holder of a subaccount that has none. */
  readonly email: string | null
  /** Whether the user may see every account and the installation itself. */
  readonly operator: boolean
  /** Whether the user is the holder of a subaccount, whose password the parent account sets. */
  readonly holder: boolean
  /** Whether the user showed that the address is theirs. */
  readonly verified: boolean
  /** Whether the user has a passkey or one-time codes. */
  readonly secondFactor: boolean
}

/** Where a request comes from; shown in the list of sessions. */
export interface Client {
  readonly address: string
  /** User-Agent; cut at 300 characters. */
  readonly agent?: string | undefined
}

/** An account as its member sees it. */
export interface AccountOfUser {
  readonly id: number
  readonly name: string
  /** `observer`: an operator who looks at the account. */
  readonly role: Role
  readonly state: 'active' | 'suspended'
}

/** How a user proved who they are. */
export type LogInMethod = 'password' | 'passkey' | 'oidc'

/** A person who is to become a user. */
export interface NewPerson {
  readonly name: string
  readonly email: string
  readonly password: string
}
