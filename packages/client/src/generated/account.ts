// Generated from the operations of the v2 API by `npm run docs`. Edit those, not this file.
import type { Call, CallOptions } from '../call.ts'

export interface AccountShown {
  /** add an open pixel to HTML; default for messages */
  readonly openTracking: boolean
  /** count clicks on links; default for messages */
  readonly clickTracking: boolean
  /** add an unsubscribe link; default for messages */
  readonly unsubscribeLink: boolean
  /** class of messages without their own: urgent, normal or bulk */
  readonly mailClass: string
  readonly footerHtml: string | null
  readonly footerText: string | null
  /** sentence around the unsubscribe link, which <% %> marks; null: the service's */
  readonly unsubscribeHtml: string | null
  /** the same in plain text */
  readonly unsubscribeText: string | null
  /** generate the plain text of messages that have HTML alone */
  readonly generateText: boolean
  /** hosts below active domains may send, such as web1.example.com */
  readonly hostsMaySend: boolean
  /** address that mail of hosts without a sending domain is sent from, by SMTP; null: it is refused */
  readonly fallbackSender: string | null
  /** senders by SMTP are notified of failures and delays by mail */
  readonly mailReports: boolean
  /** do not store the IP address and user agent of opens and clicks */
  readonly privacyMode: boolean
  /** mail to the owners about what they have to see to */
  readonly accountNotices: boolean
  /** kinds of notices that are not sent, comma-separated */
  readonly mutedNotices: string
  /** bulk mail without what large receivers demand is sent (warn) or waits (hold); null: the operator's setting */
  readonly requirements: string | null
  readonly timeZone: string
  /** content of messages stays stored after their last outcome */
  readonly keepContent: boolean
  /** retention of events in days; null: the operator's setting */
  readonly eventDays: number | null
  /** retention of bodies in days; null: the operator's setting */
  readonly bodyDays: number | null
}

export type ShowAccountData = AccountShown

export interface ChangeAccountInput {
  readonly openTracking?: boolean | number | '0' | '1' | 'true' | 'false' | '' | null | undefined
  readonly clickTracking?: boolean | number | '0' | '1' | 'true' | 'false' | '' | null | undefined
  readonly unsubscribeLink?: boolean | number | '0' | '1' | 'true' | 'false' | '' | null | undefined
  /** urgent, normal or bulk */
  readonly mailClass?: string | null | undefined
  readonly footerHtml?: string | null | undefined
  readonly footerText?: string | null | undefined
  readonly unsubscribeHtml?: string | null | undefined
  readonly unsubscribeText?: string | null | undefined
  readonly generateText?: boolean | number | '0' | '1' | 'true' | 'false' | '' | null | undefined
  readonly hostsMaySend?: boolean | number | '0' | '1' | 'true' | 'false' | '' | null | undefined
  readonly fallbackSender?: string | null | undefined
  readonly mailReports?: boolean | number | '0' | '1' | 'true' | 'false' | '' | null | undefined
  readonly privacyMode?: boolean | number | '0' | '1' | 'true' | 'false' | '' | null | undefined
  readonly accountNotices?: boolean | number | '0' | '1' | 'true' | 'false' | '' | null | undefined
  /** kinds of notices that are not sent, comma-separated: reputation, credit, domain, webhook, key, colleague, import */
  readonly mutedNotices?: string | null | undefined
  /** warn or hold; blank or null: the operator's setting */
  readonly requirements?: string | null | undefined
  /** IANA name, like Europe/Lisbon */
  readonly timeZone?: string | undefined
  readonly keepContent?: boolean | number | '0' | '1' | 'true' | 'false' | '' | null | undefined
  /** retention of events in days; 0 or null: the operator's setting */
  readonly eventDays?: number | null | undefined
  /** retention of bodies in days; 0 or null: the operator's setting */
  readonly bodyDays?: number | null | undefined
}

export type ChangeAccountData = AccountShown

export class Account {
  readonly #call: Call

  constructor(call: Call) {
    this.#call = call
  }

  /** Show the account settings. Needs the scope account. */
  show(options?: CallOptions): Promise<ShowAccountData> {
    return this.#call({ method: 'GET', path: '/account' }, {}, options)
  }

  /** Change the account settings for messages accepted from now on. Omitted parameters keep their values. Needs the scope account. */
  change(input: ChangeAccountInput = {}, options?: CallOptions): Promise<ChangeAccountData> {
    return this.#call({ method: 'POST', path: '/account' }, input, options)
  }
}
