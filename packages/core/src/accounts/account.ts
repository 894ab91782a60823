import type { ClassName } from './mail-class.ts'

/** Defaults for the account's messages, which each message can override. */
export interface MailDefaults {
  readonly openTracking: boolean
  readonly clickTracking: boolean
  readonly unsubscribe: boolean
  readonly mailClass: ClassName
  /** HTML footer appended to the account's mail; null if none. */
  readonly footerHtml: string | null
  readonly footerText: string | null
  /** The sentence around the unsubscribe link; null: the service's. */
  readonly unsubscribeHtml: string | null
  readonly unsubscribeText: string | null
  /** See AccountSettings. */
  readonly generateText: boolean
  /** The setting keepContent. */
  readonly keepsContent: boolean
}

/** The owner of messages, keys and credits. */
export interface Account {
  readonly id: number
  readonly name: string
  readonly state: 'active' | 'suspended' | 'deleted'
  /** For a subaccount, its parent account, which may act for it; otherwise null. */
  readonly parentId: number | null
  readonly expiresAt: Date | null
  /** Since when it is closed, to be deleted; null or absent: it is not. */
  readonly closedAt?: Date | null
  /** For an account on trial, the verified address that it may send to until it has an active domain; otherwise null or absent. */
  readonly trialAddress?: string | null
  /** Whether hosts below its active domains may send; absent: no. */
  readonly hostsMaySend?: boolean
  /** See AccountSettings; absent: false. */
  readonly mailReports?: boolean
  /** See AccountSettings; absent: null. */
  readonly fallbackSender?: string | null
  readonly createdAt: Date
}
