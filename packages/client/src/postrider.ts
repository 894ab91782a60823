import { type CallOptions, createCall, type PostriderOptions } from './call.ts'
import { EventsWithFeed } from './feed.ts'
import { Account } from './generated/account.ts'
import { Attachments } from './generated/attachments.ts'
import { Audit } from './generated/audit.ts'
import { Credits } from './generated/credits.ts'
import { Domains } from './generated/domains.ts'
import { Keys } from './generated/keys.ts'
import { Messages } from './generated/messages.ts'
import { Privacy } from './generated/privacy.ts'
import { Statistics } from './generated/statistics.ts'
import { Subaccounts } from './generated/subaccounts.ts'
import { Suppressions } from './generated/suppressions.ts'
import { Tags } from './generated/tags.ts'
import { Templates } from './generated/templates.ts'
import { Webhooks } from './generated/webhooks.ts'
import { type Mail, type Sending, type SentMail, sendMail, type TemplateId } from './send.ts'
import { verifyWebhook, type WebhookRequest } from './webhooks.ts'

/** Messages, with a shorter way to send. */
export class MessagesToSend extends Messages {
  readonly #sending: Sending

  constructor(sending: Sending) {
    super(sending.call)
    this.#sending = sending
  }

  /**
   * Sends mail: it is accepted and durable when the promise resolves. It has an idempotency key, so that a repetition after a lost response sends nothing
   * twice. Throws PostriderError if it is refused, when nothing is sent, and TypeError for what no call could say. Needs the scope send.
   */
  send<Id extends TemplateId = TemplateId>(mail: Mail<Id>, options?: CallOptions): Promise<SentMail> {
    return sendMail(this.#sending, mail as unknown as Mail, options)
  }
}

/** Webhooks, with the check of what they send. */
export class WebhooksToVerify extends Webhooks {
  /** Returns what a webhook's request says if it was signed with the secret, else throws WebhookError. */
  verify(request: WebhookRequest, secret: string): Promise<unknown> {
    return verifyWebhook(request, secret)
  }
}

/** A client of one installation with one key. Its methods throw PostriderError for what the service refuses, and ConnectionError without a response. */
export class Postrider {
  readonly messages: MessagesToSend
  readonly events: EventsWithFeed
  readonly webhooks: WebhooksToVerify
  readonly domains: Domains
  readonly templates: Templates
  readonly suppressions: Suppressions
  readonly attachments: Attachments
  readonly statistics: Statistics
  readonly tags: Tags
  readonly keys: Keys
  readonly account: Account
  readonly subaccounts: Subaccounts
  readonly credits: Credits
  readonly privacy: Privacy
  readonly audit: Audit

  /** Throws TypeError if the address or the key cannot be one. */
  constructor(options: PostriderOptions) {
    const call = createCall(options)
    this.messages = new MessagesToSend({ call, render: options.render })
    this.events = new EventsWithFeed(call)
    this.webhooks = new WebhooksToVerify(call)
    this.domains = new Domains(call)
    this.templates = new Templates(call)
    this.suppressions = new Suppressions(call)
    this.attachments = new Attachments(call)
    this.statistics = new Statistics(call)
    this.tags = new Tags(call)
    this.keys = new Keys(call)
    this.account = new Account(call)
    this.subaccounts = new Subaccounts(call)
    this.credits = new Credits(call)
    this.privacy = new Privacy(call)
    this.audit = new Audit(call)
  }
}
