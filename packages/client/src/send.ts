import type { Call, CallOptions, RenderReact } from './call.ts'

/** `Ship <desk@ship.example>`, `desk@ship.example`, or its parts. */
export type Address = string | { readonly email: string; readonly name?: string }

export interface MailAttachment {
  readonly filename: string
  /** A text is base64. */
  readonly content: string | Uint8Array | ArrayBuffer | Blob
  /** Shows it in the HTML by `cid:`. */
  readonly contentId?: string
}

/** Attributes of templates by their ids. The file that `postrider-types` writes adds those of an account. */
// biome-ignore lint/suspicious/noEmptyInterface: declarations of the program are merged into it
export interface TemplateAttributes {}

export type TemplateId = string | number
type Known = keyof TemplateAttributes
type AttributesOf<Id extends TemplateId> = `${Id}` extends `${Known}`
  ? { [One in Known]: `${Id}` extends `${One}` ? TemplateAttributes[One] : never }[Known]
  : Readonly<Record<string, string | number | boolean>>

type NeedsNone = Record<never, never>

/** A recipient with values of their own. */
export type Recipient<Id extends TemplateId = TemplateId> = RecipientOnly &
  (NeedsNone extends AttributesOf<Id>
    ? {
        /** Values of merge tags: `{ name: 'Lena' }` for `[%name%]`. */
        readonly attributes?: AttributesOf<Id>
      }
    : { readonly attributes: AttributesOf<Id> })

interface RecipientOnly {
  readonly to: string
  readonly cc?: string | readonly string[]
  readonly bcc?: string | readonly string[]
  readonly headers?: Readonly<Record<string, string>>
  /** Your own reference, which events have as `x-apiheader`. */
  readonly reference?: string | number
  /** Your own names and values, which events, webhooks and searches have; those of the mail, too, unless they are given here. */
  readonly metadata?: Readonly<Record<string, string | number | boolean>>
  readonly attachments?: readonly MailAttachment[]
}

/** Recipients: addresses alone only if the template needs no attributes. */
type To<Id extends TemplateId> = NeedsNone extends AttributesOf<Id> ? string | Recipient<Id> : Recipient<Id>

export interface Mail<Id extends TemplateId = TemplateId> {
  readonly from: Address
  /** Each recipient gets a message of their own, and does not see the others. */
  readonly to: To<Id> | readonly To<Id>[]
  /** Copies; only with one recipient in `to`. */
  readonly cc?: string | readonly string[]
  readonly bcc?: string | readonly string[]
  readonly replyTo?: string
  readonly subject?: string
  readonly html?: string
  readonly text?: string
  readonly amp?: string
  /** An element of React Email; needs the option `render` of the client. */
  readonly react?: unknown
  readonly templateId?: Id
  readonly attachments?: readonly MailAttachment[]
  readonly tags?: readonly string[]
  /** Your own names and values, for all recipients. They are not in the mail. */
  readonly metadata?: Readonly<Record<string, string | number | boolean>>
  /** Earliest time; `2026-12-24T09:00:00[Europe/Berlin]` names a zone. */
  readonly schedule?: Date | string
  readonly class?: 'urgent' | 'normal' | 'bulk'
  /** Seconds after which it is no longer tried. */
  readonly deadline?: number
  readonly tls?: 'required' | 'verified' | 'dane'
  /** Number of an unsubscribe group. */
  readonly group?: number
  readonly trackOpens?: boolean
  readonly trackClicks?: boolean
  readonly unsubscribeLink?: boolean
  readonly footer?: boolean
  /** If false, the content is removed after the last outcome. */
  readonly keepContent?: boolean
}

export interface SentMail {
  /** The id of the call's messages. */
  readonly messageId: string
}

export interface Sending {
  readonly call: Call
  readonly render: RenderReact | undefined
}

/**
 * Sends mail. It is accepted and durable when the promise resolves. Without an idempotency key it has one of its own, so that a repetition after a lost
 * response sends nothing twice. Throws PostriderError if it is refused: nothing is sent then; TypeError for what no call could say.
 */
export async function sendMail({ call, render }: Sending, mail: Mail, options: CallOptions = {}): Promise<SentMail> {
  const body = await bodyOf(mail, render)
  const idempotencyKey = options.idempotencyKey ?? crypto.randomUUID()
  const sent: { readonly message_id: string } = await call({ method: 'POST', path: '/sendEmail' }, body, {
    ...options,
    idempotencyKey,
  })
  return { messageId: sent.message_id }
}

async function bodyOf(mail: Mail, render: RenderReact | undefined): Promise<object> {
  const { from, to, cc, bcc, replyTo, subject, amp, react, templateId, attachments, tags, metadata, ...others } = mail
  const { html, text, schedule, class: ofClass, deadline, tls, group, ...switches } = others
  const { trackOpens, trackClicks, unsubscribeLink, footer, keepContent, ...unknown } = switches
  refuseUnknown('', unknown)
  const recipients = (Array.isArray(to) ? to : [to]).map((one: string | Recipient) =>
    typeof one === 'string' ? { to: one } : one,
  )
  if ((cc !== undefined || bcc !== undefined) && recipients.length !== 1)
    throw new TypeError('cc and bcc need exactly one recipient in to: each recipient gets a message of their own')
  const texts = react === undefined ? { html, text } : await rendered(react, text, render)
  return {
    personalizations: await Promise.all(
      recipients.map((one, at) => personalization({ ...defined({ cc, bcc }), ...one }, at)),
    ),
    from: fromOf(from),
    replyToId: replyTo,
    subject,
    content: texts.html,
    textcontent: texts.text,
    ampcontent: amp,
    templateId,
    attachments: await attachmentsOf(attachments),
    tags,
    metadata,
    schedule: schedule instanceof Date ? schedule.toISOString() : schedule,
    settings: {
      class: ofClass,
      deadline,
      tls,
      group,
      opentrack: trackOpens,
      clicktrack: trackClicks,
      unsubscribe: unsubscribeLink,
      footer,
      keepContent,
    },
  }
}

async function personalization(recipient: Recipient, at: number): Promise<object> {
  const { to, cc, bcc, attributes, headers, reference, metadata, attachments, ...unknown } = recipient
  refuseUnknown(`to[${at}].`, unknown)
  return {
    recipient: to,
    recipient_cc: cc,
    recipient_bcc: bcc,
    attributes,
    'x-headers': headers,
    'x-apiheader': reference,
    metadata,
    attachments: await attachmentsOf(attachments),
  }
}

/** The service ignores what it does not know; a program without types would not notice a misspelt member. */
function refuseUnknown(place: string, unknown: object): void {
  const [name] = Object.keys(unknown)
  if (name !== undefined) throw new TypeError(`${place}${name} is not a member of a mail; see docs/client.md`)
}

const defined = <T extends object>(values: T): { [Name in keyof T]: NonNullable<T[Name]> } =>
  Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined)) as never

function fromOf(from: Address): object {
  if (typeof from !== 'string') return { fromEmail: from.email, fromName: from.name }
  const [start, end] = [from.lastIndexOf('<'), from.trimEnd().length - 1]
  if (start === -1 || from[end] !== '>') return { fromEmail: from }
  const name = from.slice(0, start).trim()
  const isQuoted = name.length > 1 && name.startsWith('"') && name.endsWith('"')
  return {
    fromEmail: from.slice(start + 1, end),
    fromName: isQuoted ? name.slice(1, -1).replaceAll(/\\(.)/g, '$1') : name || undefined,
  }
}

async function attachmentsOf(attachments: readonly MailAttachment[] | undefined): Promise<object[] | undefined> {
  return (
    attachments &&
    Promise.all(
      attachments.map(async ({ filename, content, contentId }) => ({
        fileName: filename,
        fileContent: await base64Of(content),
        contentId,
      })),
    )
  )
}

/** Octets that are encoded at once, since the arguments of a call are limited; a multiple of three, so that only the last part is padded. */
const PART = 0x60_00

/** Without Buffer, which Workers and browsers lack. A text is base64 already. */
export async function base64Of(content: MailAttachment['content']): Promise<string> {
  if (typeof content === 'string') return content
  const octets = new Uint8Array(content instanceof Blob ? await content.arrayBuffer() : content)
  let text = ''
  for (let at = 0; at < octets.length; at += PART) text += btoa(String.fromCharCode(...octets.subarray(at, at + PART)))
  return text
}

async function rendered(element: unknown, text: string | undefined, render: RenderReact | undefined) {
  if (!render) throw new TypeError('react needs the option render of the client: that of @react-email/render')
  return { html: await render(element), text: text ?? (await render(element, { plainText: true })) }
}
