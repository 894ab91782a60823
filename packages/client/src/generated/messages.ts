// Generated from the operations of the v2 API by `npm run docs`. Edit those, not this file.
import type { Call, CallOptions } from '../call.ts'

export interface Html {
  /** the first 256 kB */
  readonly text: string
  /** bytes of the whole */
  readonly size: number
  /** whether there is more */
  readonly cut: boolean
}

export interface Personalizations {
  readonly recipient?: string | null | undefined
  readonly recipient_cc?: string | readonly string[] | null | undefined
  readonly recipient_bcc?: string | readonly string[] | null | undefined
  readonly 'x-apiheader'?: number | string | null | undefined
  readonly 'x-apiheader_cc'?: number | string | null | undefined
  readonly attributes?:
    | Readonly<Record<string, string | number | boolean | null>>
    | readonly unknown[]
    | null
    | undefined
  readonly 'x-headers'?:
    | Readonly<Record<string, string | number | boolean | null>>
    | readonly unknown[]
    | null
    | undefined
  readonly metadata?: Readonly<Record<string, string | number | boolean | null>> | readonly unknown[] | null | undefined
  readonly attachments?: readonly Attachments[] | null | undefined
}

export interface Attachments {
  readonly fileName?: string | null | undefined
  readonly fileContent?: string | null | undefined
  readonly contentId?: string | null | undefined
}

export interface Settings {
  readonly footer?: boolean | number | '0' | '1' | 'true' | 'false' | '' | null | undefined
  readonly clicktrack?: boolean | number | '0' | '1' | 'true' | 'false' | '' | null | undefined
  readonly opentrack?: boolean | number | '0' | '1' | 'true' | 'false' | '' | null | undefined
  readonly unsubscribe?: boolean | number | '0' | '1' | 'true' | 'false' | '' | null | undefined
  readonly group?: number | string | null | undefined
  readonly class?: string | null | undefined
  readonly deadline?: number | string | null | undefined
  readonly tls?: string | null | undefined
  readonly keepContent?: boolean | number | '0' | '1' | 'true' | 'false' | '' | null | undefined
  readonly bcc?: string | null | undefined
  readonly attachmentid?: number | string | readonly (number | string)[] | null | undefined
}

export interface SendEmailInput {
  readonly personalizations?: readonly Personalizations[] | undefined
  readonly from?:
    | {
        readonly fromEmail?: string | null | undefined
        readonly fromName?: string | null | undefined
      }
    | null
    | undefined
  readonly subject?: string | null | undefined
  readonly content?: string | null | undefined
  readonly ampcontent?: string | null | undefined
  readonly textcontent?: string | null | undefined
  readonly attachments?: readonly Attachments[] | null | undefined
  readonly settings?: Settings | readonly unknown[] | null | undefined
  readonly tags?: string | readonly string[] | null | undefined
  readonly replyToId?: string | null | undefined
  readonly templateId?: number | string | null | undefined
  readonly attachmentId?: number | string | readonly (number | string)[] | null | undefined
  readonly attachmentid?: number | string | readonly (number | string)[] | null | undefined
  /** names and values of your own that come back in events; a personalization may have some, too */
  readonly metadata?: Readonly<Record<string, string | number | boolean | null>> | readonly unknown[] | null | undefined
  readonly schedule?: number | string | null | undefined
}

export type SendEmailData = {
  readonly message_id: string
}

export interface CheckEmailInput {
  readonly personalizations?: readonly Personalizations[] | undefined
  readonly from?:
    | {
        readonly fromEmail?: string | null | undefined
        readonly fromName?: string | null | undefined
      }
    | null
    | undefined
  readonly subject?: string | null | undefined
  readonly content?: string | null | undefined
  readonly ampcontent?: string | null | undefined
  readonly textcontent?: string | null | undefined
  readonly attachments?: readonly Attachments[] | null | undefined
  readonly settings?: Settings | readonly unknown[] | null | undefined
  readonly tags?: string | readonly string[] | null | undefined
  readonly replyToId?: string | null | undefined
  readonly templateId?: number | string | null | undefined
  readonly attachmentId?: number | string | readonly (number | string)[] | null | undefined
  readonly attachmentid?: number | string | readonly (number | string)[] | null | undefined
  /** names and values of your own that come back in events; a personalization may have some, too */
  readonly metadata?: Readonly<Record<string, string | number | boolean | null>> | readonly unknown[] | null | undefined
  readonly schedule?: number | string | null | undefined
}

export type CheckEmailData = {
  /** recipients it would have, cc and bcc included */
  readonly recipients: number
}

export interface SendRawInput {
  /** the message in base64; or the body is the message, of the type message/rfc822 */
  readonly raw?: string | null | undefined
  /** the envelope's sender, as in MAIL FROM; empty: the null sender. Default: the address in From */
  readonly from?: string | null | undefined
  /** the envelope's recipients, as in RCPT TO, in a list or separated by commas. Default: those in To, Cc and Bcc */
  readonly to?: string | readonly string[] | null | undefined
}

export type SendRawData = {
  readonly message_id: string
  /** what was corrected in the message, in words */
  readonly corrected: string | null
  /** why the message was accepted and dropped for all recipients: the mistakes in its X-SMTPAPI field */
  readonly problems: readonly {
    readonly path: string
    readonly problem: string
  }[]
}

export interface SendBatchInput {
  readonly messages: readonly unknown[]
}

export type SendBatchData = {
  readonly accepted: number
  readonly refused: number
  /** one for each message, in their order */
  readonly results: readonly {
    /** null: the message was refused */
    readonly message_id: string | null
    /** whether an earlier call with its idempotency key has sent it */
    readonly repeated: boolean
    readonly error_info: {
      readonly error_message: string
      readonly error_code: number
    } | null
  }[]
}

export interface ListMessagesInput {
  /**
   * words of the recipient, the subject, the tags and your own id, all of which must be there, in any case and without accents; a word finds
   * those that begin with it, "words in quotes" only themselves, and -word excludes. Or a message id, TRANSID or Message-ID. And to: from:
   * state: subject: tag: ref: id: domain: door: before: after: has:attachment
   */
  readonly search?: string | number | null | undefined
  /** the recipient, @domain, or a part of address or name */
  readonly to?: string | number | null | undefined
  /** the sender, @domain, or words of the address */
  readonly from?: string | number | null | undefined
  /** one or several states of a delivery, comma-separated; or waiting, failed, opened, clicked, complained */
  readonly state?: string | number | null | undefined
  /** words of the subject, the last of which may be the beginning of one */
  readonly subject?: string | number | null | undefined
  /** the beginning of the subject, in any case */
  readonly subject_prefix?: string | number | null | undefined
  /** words of a tag */
  readonly tag?: string | number | null | undefined
  /** words of your own id (`xapiheader`) */
  readonly ref?: string | number | null | undefined
  /** the id returned by sendEmail, a TRANSID, or a Message-ID */
  readonly id?: string | number | null | undefined
  /** the domain of the sender's address */
  readonly domain?: string | number | null | undefined
  /** how it was submitted: v2, v3 or smtp */
  readonly door?: string | number | null | undefined
  /** accepted before this day or time, ISO 8601; without a zone in the account's. Or 2h, 3d, 1w ago, today, yesterday */
  readonly before?: string | number | null | undefined
  /** accepted on this day or at this time, or later; as before */
  readonly after?: string | number | null | undefined
  /** attachment: only messages with attachments */
  readonly has?: string | number | null | undefined
  /** at most 100; default 50 */
  readonly limit?: number | string | null | undefined
  /** `next` of the previous response, with otherwise identical parameters */
  readonly cursor?: string | number | null | undefined
}

export interface ListMessagesData {
  readonly data: readonly {
    /** the id returned by sendEmail: 32 hexadecimal digits */
    readonly messageId: string
    /** how it was submitted */
    readonly door: 'v2' | 'v3' | 'smtp'
    readonly fromaddress: string
    /** as submitted, with its merge tags */
    readonly subject: string
    readonly tags: readonly string[]
    /** bytes as submitted */
    readonly size: number
    readonly hasAttachment: boolean
    /** false: the content is removed after the last outcome */
    readonly keepContent: boolean
    /** ISO 8601, UTC */
    readonly acceptedAt: string
    /** transaction number of this recipient, a multiple of 4 */
    readonly trid: number
    /** position among the recipients of the message, from 0 */
    readonly recipientNo: number
    readonly recipient: string
    readonly kind: 'to' | 'cc' | 'bcc'
    readonly xapiheader: string
    readonly state: 'scheduled' | 'queued' | 'sending' | 'deferred' | 'delivered' | 'bounced' | 'dropped' | 'expired'
    /** why it was dropped or set aside */
    readonly reason: string | null
    /** ISO 8601, UTC: when a report came that it was not delivered after all, although a server had accepted it; null if none did */
    readonly bouncedAt: string | null
    /** the reply in that report */
    readonly bounce: string | null
    readonly attempts: number
    /** ISO 8601, UTC: the next attempt, or the end of a pause; null if none is planned for a certain time */
    readonly nextAt: string | null
    /** ISO 8601, UTC; null if it is not final */
    readonly finishedAt: string | null
    /** the server's reply to the latest attempt */
    readonly reply: string | null
  }[]
  /** cursor of the next page; null on the last page */
  readonly next: string | null
  /** whether the page has less than `limit` rows because the search was stopped to answer soon; `next` continues it */
  readonly partial: boolean
  /** ISO 8601, UTC: of a partial page, the time down to which everything was searched */
  readonly searchedTo: string | null
  /** ISO 8601, UTC: how far back a search goes, to the beginning that it asks for or to the oldest message that is stored; null without mail */
  readonly searchedFrom: string | null
}

export interface ShowMessageInput {
  /** the id returned by sendEmail: 32 hexadecimal digits */
  readonly messageId: string
  /** number of the first delivery; default 0 */
  readonly from_recipient?: number | string | null | undefined
}

export type ShowMessageData = {
  /** the id returned by sendEmail: 32 hexadecimal digits */
  readonly messageId: string
  /** how it was submitted */
  readonly door: 'v2' | 'v3' | 'smtp'
  readonly fromaddress: string
  /** as submitted, with its merge tags */
  readonly subject: string
  readonly tags: readonly string[]
  /** bytes as submitted */
  readonly size: number
  readonly hasAttachment: boolean
  /** false: the content is removed after the last outcome */
  readonly keepContent: boolean
  /** ISO 8601, UTC */
  readonly acceptedAt: string
  /** ISO 8601, UTC: the time that the sender requested */
  readonly scheduledAt: string | null
  /** the API key that it was submitted with */
  readonly keyId: number | null
  /** the IP address that it was submitted from */
  readonly clientAddress: string | null
  /** false after the retention period of bodies, or if the content is not kept */
  readonly bodyStored: boolean
  /** the corrections of a message received by SMTP, in words */
  readonly corrected: string | null
  /** who is notified of its deliveries by mail (RFC 3461); null if no one is */
  readonly notifications: {
    /** MAIL FROM */
    readonly to: string
    /** RET=FULL */
    readonly full: boolean
    /** ENVID */
    readonly envelopeId: string | null
  } | null
  /** the message that it is sent again from */
  readonly resentFrom: string | null
  /** the messages by which it was sent again, the first 20 */
  readonly resentAs: readonly string[]
  /** the number of its recipients */
  readonly recipients: number
  /** at most 100, by recipientNo */
  readonly deliveries: readonly {
    /** transaction number of this recipient, a multiple of 4 */
    readonly trid: number
    /** position among the recipients of the message, from 0 */
    readonly recipientNo: number
    readonly recipient: string
    readonly kind: 'to' | 'cc' | 'bcc'
    readonly xapiheader: string
    readonly state: 'scheduled' | 'queued' | 'sending' | 'deferred' | 'delivered' | 'bounced' | 'dropped' | 'expired'
    /** why it was dropped or set aside */
    readonly reason: string | null
    /** null if it is finished */
    readonly waitingFor:
      | 'scheduled'
      | 'batch-paused'
      | 'retry'
      | 'provider-pause'
      | 'provider-rate'
      | 'connections'
      | 'warm-up'
      | 'source-paused'
      | 'no-source'
      | 'operator-hold'
      | 'account-held'
      | 'fair-share'
      | 'no-worker'
      | 'set-aside'
      | 'indeterminate'
      | 'dns'
      | 'moment'
      | null
    /** the same as a sentence, with times in UTC */
    readonly text: string
    /** ISO 8601, UTC: since when it has waited for this, or when it was finished */
    readonly since: string | null
    /** ISO 8601, UTC: the next attempt; null if none is planned for a certain time */
    readonly nextAt: string | null
    /** when it is expected to be tried */
    readonly expected: {
      /** ISO 8601, UTC: as likely before as after; null if there is no estimate */
      readonly p50: string | null
      /** ISO 8601, UTC: probably before; null if unknown */
      readonly p90: string | null
      /** what the times are derived from, or why there is no estimate */
      readonly basis: string
    } | null
    /**
     * number of deliveries ahead of it, counted up to 10,000, or 1,000 if the message waits at more than ten destinations; null if it does not
     * wait for its turn
     */
    readonly ahead: number | null
    /** ISO 8601, UTC: until when it is tried; null if it is finished */
    readonly deadline: string | null
    /** the provider or site whose capacity it waits for */
    readonly place: string | null
    /** ISO 8601, UTC: when a report came that it was not delivered after all, although a server had accepted it; null if none did */
    readonly bouncedAt: string | null
    /** the reply in that report */
    readonly bounce: string | null
    /** what is reported to the sender by mail: NOTIFY of RFC 3461, or the account setting mailReports; null without notifications */
    readonly notify: readonly ('success' | 'failure' | 'delay')[] | null
    /** the own data of the message: names and values */
    readonly metadata: Readonly<Record<string, string>> | null
    /** ORCPT, if it is another address */
    readonly originalRecipient: string | null
    /** ISO 8601, UTC; null if it is not final */
    readonly finishedAt: string | null
    /** the latest ten, the latest last */
    readonly attempts: readonly {
      /** from 1 */
      readonly attempt: number
      /** ISO 8601, UTC: its beginning */
      readonly time: string
      readonly outcome: 'delivered' | 'deferred' | 'bounced' | 'abandoned'
      /** the connection was lost at a moment at which the server may have accepted the message */
      readonly indeterminate: boolean
      /** the step of the SMTP session that was reached */
      readonly stage: string | null
      readonly host: string | null
      /** the provider or site, with the source address if there are several: google@mta-1 */
      readonly place: string | null
      readonly code: number | null
      readonly enhanced: string | null
      readonly reply: string | null
      /** the TLS level that was demanded, if any */
      readonly tlsPolicy: string | null
      /** where that demand comes from: the message, a rule, the provider table, MTA-STS or DANE */
      readonly tlsOrigin:
        | 'message'
        | 'account-domain'
        | 'account'
        | 'domain'
        | 'operator'
        | 'provider'
        | 'mta-sts'
        | 'dane'
        | null
      /** duration of the whole attempt in milliseconds */
      readonly ms: number
      /** the IP address of the host */
      readonly address: string | null
      readonly tls: string | null
      readonly tlsVerified: boolean | null
      /** null if it is not stored */
      readonly conversation:
        | readonly {
            /** of the SMTP session: connect, ehlo, mail, rcpt, data, dot and others */
            readonly step: string
            /** how long it took */
            readonly ms: number
            readonly code?: number | null | undefined
            readonly enhanced?: string | null | undefined
            readonly text?: string | null | undefined
            /** sent with the step before it, so their durations overlap (RFC 2920) */
            readonly together?: boolean | undefined
          }[]
        | null
    }[]
  }[]
  /** value of `from_recipient` for the following deliveries; null if there are none */
  readonly nextRecipient: number | null
  /** of these deliveries, at most 1,000, in order */
  readonly events: readonly {
    /** the same as in the event feed */
    readonly id: string
    /** the service's own name of the event */
    readonly type: string
    /** ISO 8601, UTC */
    readonly time: string
    readonly recipientNo: number | null
    readonly detail: Readonly<Record<string, unknown>> | null
  }[]
  /** whether there are more events than are shown */
  readonly moreEvents: boolean
  /** those that these deliveries caused */
  readonly suppressions: readonly {
    readonly value: string
    readonly reason: string
    /** 0 if it applies to all mail */
    readonly group: number
    readonly recipientNo: number | null
    /** ISO 8601, UTC */
    readonly since: string
  }[]
  /** the latest 100 reports that came back for the message */
  readonly returns: readonly {
    /** bounce, complaint, auto-reply and others */
    readonly kind: string
    readonly recipientNo: number | null
    /** ISO 8601, UTC */
    readonly receivedAt: string
    /** the domain of the report's sender, not verified */
    readonly reporter: string
    readonly effect: string
  }[]
}

export interface MessageBodyInput {
  /** the id returned by sendEmail: 32 hexadecimal digits */
  readonly messageId: string
  /** number of the recipient whose copy is meant; default: the first one */
  readonly recipient_no?: number | string | null | undefined
}

export type MessageBodyData = {
  /** the recipient whose copy it is */
  readonly recipientNo: number
  readonly recipient: string
  readonly html: Html | null
  readonly text: Html | null
  readonly source: Html | null
  /** the fields of the header, unfolded and not decoded */
  readonly headers: readonly {
    readonly name: string
    readonly value: string
  }[]
  readonly attachments: readonly {
    /** for downloadAttachment */
    readonly index: number
    readonly fileName: string | null
    readonly type: string
    /** bytes */
    readonly size: number
    readonly inline: boolean
    readonly contentId: string | null
  }[]
  /** false if the message has more parts than are read */
  readonly complete: boolean
}

export interface DownloadMessageInput {
  /** the id returned by sendEmail: 32 hexadecimal digits */
  readonly messageId: string
  /** number of the recipient whose copy is meant; default: the first one */
  readonly recipient_no?: number | string | null | undefined
}

export interface DownloadAttachmentInput {
  /** the id returned by sendEmail: 32 hexadecimal digits */
  readonly messageId: string
  /** number of the recipient whose copy is meant; default: the first one */
  readonly recipient_no?: number | string | null | undefined
  readonly index: number
}

export interface ResendInput {
  /** the id returned by sendEmail: 32 hexadecimal digits */
  readonly messageId: string
  /** numbers of recipients (recipientNo); default all */
  readonly recipients?: readonly number[] | undefined
  /** a corrected address in place of that of the recipient, who must be the only one chosen */
  readonly to?: string | undefined
}

export type ResendData = {
  /** the id of the new message */
  readonly messageId: string
  readonly resentFrom: string
}

export interface TryNowInput {
  /** the id returned by sendEmail: 32 hexadecimal digits */
  readonly messageId: string
}

export type TryNowData = {
  readonly messageId: string
  /** deliveries that are due now */
  readonly due: number
  /** deferred deliveries that were tried within the last minute, or wait for another reason than their time */
  readonly notYet: number
  /** deliveries that are not deferred */
  readonly others: number
}

export interface CancelMessageInput {
  /** the id returned by sendEmail: 32 hexadecimal digits */
  readonly messageId: string
  /** numbers of recipients (recipientNo); default all */
  readonly recipients?: readonly number[] | undefined
}

export type CancelMessageData = {
  readonly messageId: string
  readonly cancelled: number
  /** deliveries that are being sent */
  readonly inFlight: number
  /** deliveries that had ended before */
  readonly final: number
}

export interface RescheduleMessageInput {
  /** the id returned by sendEmail: 32 hexadecimal digits */
  readonly messageId: string
  /**
   * ISO 8601 with offset or zone (RFC 9557), as 2026-12-24T09:00:00[Europe/Berlin], or Unix seconds; without a zone, that of the account. One
   * that has passed: now
   */
  readonly schedule: string | number
}

export type RescheduleMessageData = {
  readonly messageId: string
  /** ISO 8601, UTC */
  readonly scheduledAt: string
  /** deliveries that have this time now */
  readonly rescheduled: number
  /** deliveries that were due already, or have ended */
  readonly others: number
}

export class Messages {
  readonly #call: Call

  constructor(call: Call) {
    this.#call = call
  }

  /** Send a message to one or more recipients. Needs the scope send. */
  sendEmail(input: SendEmailInput = {}, options?: CallOptions): Promise<SendEmailData> {
    return this.#call({ method: 'POST', path: '/sendEmail' }, input, options)
  }

  /** Check a message as sendEmail would, with the same errors, without sending or storing it. Needs the scope send. */
  checkEmail(input: CheckEmailInput = {}, options?: CallOptions): Promise<CheckEmailData> {
    return this.#call({ method: 'POST', path: '/sendEmail/check' }, input, options)
  }

  /**
   * Send a MIME message, as over SMTP: the same checks, corrections and control fields. Bcc is removed. An Idempotency-Key makes a repeated call
   * safe. Needs the scope send.
   */
  sendRaw(input: SendRawInput = {}, options?: CallOptions): Promise<SendRawData> {
    return this.#call({ method: 'POST', path: '/messages/raw' }, input, options)
  }

  /**
   * Send up to 500 different messages. Each is accepted or refused by itself; the answers have the order of the messages. The status is 200 if
   * the call could be read, even if every message was refused. Needs the scope send.
   */
  sendBatch(input: SendBatchInput, options?: CallOptions): Promise<SendBatchData> {
    return this.#call({ method: 'POST', path: '/messages/batch' }, input, options)
  }

  /** List or search the deliveries of messages, newest first. Needs the scope events. */
  list(input: ListMessagesInput = {}, options?: CallOptions): Promise<ListMessagesData> {
    return this.#call({ method: 'GET', path: '/messages', gives: 'whole' }, input, options)
  }

  /** Show a message with its deliveries, 100 at a time: what each waits for, its attempts and events. Needs the scope events. */
  show(input: ShowMessageInput, options?: CallOptions): Promise<ShowMessageData> {
    return this.#call({ method: 'GET', path: '/messages/:messageId' }, input, options)
  }

  /** Show one recipient's copy of a message: its texts, header and attachments. Needs the scope content. */
  body(input: MessageBodyInput, options?: CallOptions): Promise<MessageBodyData> {
    return this.#call({ method: 'GET', path: '/messages/:messageId/body' }, input, options)
  }

  /** Download one recipient's copy of a message as it was sent, without the signature. Needs the scope content. */
  download(input: DownloadMessageInput, options?: CallOptions): Promise<ReadableStream<Uint8Array>> {
    return this.#call({ method: 'GET', path: '/messages/:messageId/source', gives: 'stream' }, input, options)
  }

  /** Download an attachment of a message. Needs the scope content. */
  downloadAttachment(input: DownloadAttachmentInput, options?: CallOptions): Promise<ReadableStream<Uint8Array>> {
    return this.#call(
      { method: 'GET', path: '/messages/:messageId/attachments/:index', gives: 'stream' },
      input,
      options,
    )
  }

  /**
   * Send an accepted message again, as a new one with the same content, to all its recipients, some, or a corrected address. An Idempotency-Key
   * makes a repeated call safe. Needs the scope send.
   */
  resend(input: ResendInput, options?: CallOptions): Promise<ResendData> {
    return this.#call({ method: 'POST', path: '/messages/:messageId/resend' }, input, options)
  }

  /** Make the deferred deliveries of a message due now; limits and pauses apply as before. Needs the scope send. */
  tryNow(input: TryNowInput, options?: CallOptions): Promise<TryNowData> {
    return this.#call({ method: 'POST', path: '/messages/:messageId/try-now' }, input, options)
  }

  /**
   * Drop the deliveries of a message that are scheduled or waiting, of all its recipients or some; those that are being sent are not affected.
   * Needs the scope send.
   */
  cancel(input: CancelMessageInput, options?: CallOptions): Promise<CancelMessageData> {
    return this.#call({ method: 'POST', path: '/messages/:messageId/cancel' }, input, options)
  }

  /** Give the deliveries of a message that are scheduled and not yet due another time. Needs the scope send. */
  reschedule(input: RescheduleMessageInput, options?: CallOptions): Promise<RescheduleMessageData> {
    return this.#call({ method: 'PATCH', path: '/messages/:messageId' }, input, options)
  }
}
