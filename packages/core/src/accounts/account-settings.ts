/** What an account's mail is made with unless the message says otherwise, and how the account is told and kept. */
export interface AccountSettings {
  readonly openTracking: boolean
  readonly clickTracking: boolean
  readonly unsubscribeLink: boolean
  /** Appended to its mail. Null: no footer. */
  readonly footerHtml: string | null
  readonly footerText: string | null
  /** What readers do is counted without their address and program. */
  readonly privacyMode: boolean
  /** An IANA name; days of statistics and dates of exports are its days. */
  readonly timeZone: string
  /** Days that events are kept. Null: as long as the operator keeps them. */
  readonly eventDays: number | null
  /** Days that bodies are kept. Null: as long as the operator keeps them. */
  readonly bodyDays: number | null
}
