import type { ContentDocument } from '../composition/content.ts'
import { defaultsIn, withDefaults } from '../composition/merge.ts'
import { OF_ENVELOPE, type RecipientData, type VisibleList } from '../composition/recipient-data.ts'
import { subjectOf } from '../composition/stored-content.ts'
import { parseAddress } from '../mime/address.ts'
import type { FileHead } from '../mime/parts.ts'
import { defined } from '../platform/defined.ts'
import { ownNotifications, type RecipientNotifications } from '../submission/status-notifications.ts'
import type { Submission, SubmittedAttachment, SubmittedEnvelope } from '../submission/submission.ts'
import { isShared } from '../submission/visible-length.ts'
import { headOf, ownOf, personalOfMime } from './prepare-details.ts'
import type { Facts } from './rules/rules.ts'
import type { StoredDelivery } from './stored-message.ts'

/** Body parts of attachments. A file that several envelopes use is stored once. */
export class FileParts {
  readonly contents: Buffer[] = []
  readonly names: Record<string, string> = {}
  readonly heads: Record<string, FileHead> = {}
  readonly #known = new Map<SubmittedAttachment, number>()

  add(attachment: SubmittedAttachment): number {
    const before = this.#known.get(attachment)
    if (before !== undefined) return before
    const part = this.contents.push(attachment.content)
    this.names[part] = attachment.fileName
    const head = headOf(attachment)
    if (head) this.heads[part] = head
    this.#known.set(attachment, part)
    return part
  }
}

/** The lists that are stored once. */
export function envelopesOf({ envelopes }: Submission): Pick<ContentDocument, 'envelopes'> {
  const shared = envelopes.flatMap((envelope, number): [number, VisibleList][] => {
    if (!isShared(envelope)) return []
    const { to, cc } = envelope
    return [
      [
        number,
        {
          to: canonical(to),
          ...(cc.length > 0 ? { cc: canonical(cc) } : {}),
          ...defined({ names: ownOf(envelope).names }),
        },
      ],
    ]
  })
  return shared.length === 0 ? {} : { envelopes: Object.fromEntries(shared) }
}

export function prepareRecipients(submission: Submission, { template }: Facts, files: FileParts): StoredDelivery[] {
  const deliveries: StoredDelivery[] = []
  // A template's defaults are stored with its content. Those in the subject are needed here too, because the event log shows the
  // subject but does not read the content.
  const defaults = defaultsIn(subjectOf(submission, template), template?.defaults)
  for (const [number, envelope] of submission.envelopes.entries()) {
    const { content } = submission
    const mime = content.kind === 'mime' && !submission.templateId
    const personal = mime
      ? personalOfMime(content, envelope, number)
      : personalOf(
          defaults ? { ...envelope, attributes: withDefaults(envelope.attributes, defaults) } : envelope,
          number,
          files,
        )
    const names = !mime && isShared(envelope) ? ownOf(envelope).names : undefined
    const alone = envelope.to.length === 1 && envelope.cc.length === 0 && envelope.bcc.length === 0
    // One copy per mailbox and envelope, in the list where the address occurs first.
    const seen = new Set<string>()
    for (const [kind, addresses] of [
      ['to', envelope.to],
      ['cc', envelope.cc],
      ['bcc', envelope.bcc],
    ] as const) {
      for (const written of addresses) {
        if (written.trim() === '') continue
        const address = parseAddress(written)
        const key = address?.key ?? null
        if (key !== null && seen.has(key)) continue
        if (key !== null) seen.add(key)
        deliveries.push({
          recipientNo: deliveries.length,
          recipient: address?.text ?? written.trim().slice(0, 320),
          key,
          domain: address?.domain ?? '',
          kind,
          reference: kind === 'to' ? envelope.reference : (envelope.referenceCc ?? envelope.reference),
          personal: withNotifications(
            alone && number === deliveries.length
              ? trivialToNull(personal)
              : withOwnName(personal, names, address?.text),
            submission.notifications && ownNotifications(submission.notifications, address?.text ?? written),
            number,
          ),
        })
      }
    }
  }
  return deliveries
}

/** The search finds a recipient by its name, which is stored with its delivery. */
function withOwnName(
  personal: RecipientData | null,
  names: RecipientData['names'],
  address: string | undefined,
): RecipientData | null {
  const name = names && address !== undefined ? names[address] : undefined
  return personal && address !== undefined && name !== undefined
    ? { ...personal, names: { [address]: name } }
    : personal
}

function withNotifications(
  personal: RecipientData | null,
  own: RecipientNotifications | undefined,
  envelope: number,
): RecipientData | null {
  return own ? { envelope, ...personal, ...own } : personal
}

function personalOf(envelope: SubmittedEnvelope, number: number, files: FileParts): RecipientData {
  const { to, cc, bcc, attributes, headers, attachments, messageId, substitutions, data, customArgs } = envelope
  const listed = to.length + cc.length + bcc.length > 1
  const { names, ...own } = ownOf(envelope)
  const shown = {
    ...(listed ? { to: canonical(to) } : {}),
    ...(cc.length > 0 ? { cc: canonical(cc) } : {}),
    ...(names ? { names } : {}),
  }
  return {
    envelope: number,
    ...(isShared(envelope) ? { to: OF_ENVELOPE } : shown),
    ...own,
    ...(Object.keys(attributes).length > 0 ? { attributes } : {}),
    ...(Object.keys(headers).length > 0 ? { headers } : {}),
    ...(messageId === undefined ? {} : { messageId }),
    ...(substitutions ? { substitutions } : {}),
    ...(data ? { data: JSON.stringify(data) } : {}),
    ...(customArgs ? { customArgs } : {}),
    ...(attachments.length > 0 ? { attachments: attachments.map((attachment) => files.add(attachment)) } : {}),
  }
}

/** If the envelope's number equals the recipient's and nothing else differs, nothing is stored. */
function trivialToNull(personal: RecipientData | null): RecipientData | null {
  return personal && Object.keys(personal).length === 1 ? null : personal
}

/** Returns the addresses in their canonical form, without those that are not valid. */
function canonical(addresses: readonly string[]): string[] {
  return addresses.flatMap((written) => parseAddress(written)?.text ?? [])
}
