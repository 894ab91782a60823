/** What an account has its mail made with, unless the message says otherwise. */
export interface MailDefaults {
  readonly openTracking: boolean
  readonly clickTracking: boolean
  readonly unsubscribe: boolean
  /** Appended to its mail; null: nothing. */
  readonly footerHtml: string | null
  readonly footerText: string | null
}

/** Who sends, and later who pays. */
export interface Account {
  readonly id: number
  readonly name: string
  readonly state: 'active' | 'suspended' | 'deleted'
  /** Of a subaccount: the account it is under, which may act for it. */
  readonly parentId: number | null
  readonly expiresAt: Date | null
  readonly createdAt: Date
}
