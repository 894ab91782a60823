import type { Principal } from '../accounts/keys/api-key.ts'
import type { UsableDomain } from '../domains/domain.ts'
import { parseAddress } from '../mime/address.ts'

/** The kinds of notifications (RFC 3461 4.1). */
export const NOTIFY_WORDS = ['success', 'failure', 'delay'] as const
export type NotifyWord = (typeof NOTIFY_WORDS)[number]

/** The notifications about one recipient; as stored, of a delivery that differs from its message. */
export interface RecipientNotifications {
  /** If empty, there are none (NOTIFY=NEVER); if undefined, the account's setting decides. */
  readonly notify?: readonly NotifyWord[] | undefined
  /** ORCPT: its type, `;`, and the address decoded. */
  readonly originalRecipient?: string | undefined
}

/** The delivery status notifications of a message (RFC 3461): who gets them, and of what. */
export interface StatusNotifications {
  /** MAIL FROM. */
  readonly to: string
  /** RET=FULL: a notification of a failure has the whole message, not only its header. */
  readonly full: boolean
  /** ENVID, decoded. */
  readonly envelopeId?: string | undefined
  /** By address as in RCPT TO. */
  readonly recipients: ReadonlyMap<string, RecipientNotifications>
}

/** As stored with a message. `notify` holds for recipients whose own data has none. */
export interface StoredNotifications {
  readonly to: string
  readonly full?: true
  readonly envelopeId?: string
  readonly notify: readonly NotifyWord[]
}

interface NotificationLookups {
  readonly findDomain: (
    accountId: number,
    name: string,
    parentId: number | null,
  ) => Promise<UsableDomain | null> | UsableDomain | null
}

/** Notifications that are sent without NOTIFY, if the account's setting `mailReports` says so. */
const WITHOUT_NOTIFY: readonly NotifyWord[] = ['failure', 'delay']

/**
 * Returns the notifications that a message gets, with what each recipient's NOTIFY or the account's setting says; undefined if there are none.
 * They are sent only to an address at an active domain of the account, so that no stranger gets unwanted mail, and never for the null sender
 * (RFC 3461 6.1).
 */
export async function notificationsFor(
  { account: { id, parentId, mailReports } }: Pick<Principal, 'account'>,
  asked: StatusNotifications,
  { findDomain }: NotificationLookups,
): Promise<StatusNotifications | undefined> {
  const byDefault = mailReports ? WITHOUT_NOTIFY : []
  const recipients = new Map(
    [...asked.recipients].map(([address, own]) => [address, { ...own, notify: own.notify ?? byDefault }]),
  )
  if (![...recipients.values()].some(({ notify }) => notify.length > 0)) return undefined
  const domain = parseAddress(asked.to)?.domain
  if (domain === undefined || !(await findDomain(id, domain, parentId))) return undefined
  return { ...asked, recipients }
}

/** Returns what is stored with the message. That of the first recipient holds for all, unless they have their own. */
export function storedNotifications({ to, full, envelopeId, recipients }: StatusNotifications): StoredNotifications {
  const [first] = recipients.values()
  return {
    to,
    ...(full ? { full: true as const } : {}),
    ...(envelopeId === undefined ? {} : { envelopeId }),
    notify: first?.notify ?? [],
  }
}

/** Returns what is stored with a delivery, if it differs from its message. Bcc recipients of the header are not in the envelope. */
export function ownNotifications(given: StatusNotifications, recipient: string): RecipientNotifications | undefined {
  const { notify: common } = storedNotifications(given)
  const { notify = [], originalRecipient } = given.recipients.get(recipient) ?? {}
  const own = {
    ...(String(notify) === String(common) ? {} : { notify }),
    ...(originalRecipient === undefined || isSame(originalRecipient, recipient) ? {} : { originalRecipient }),
  }
  return Object.keys(own).length > 0 ? own : undefined
}

/** Postfix names each recipient as its own original one. */
function isSame(originalRecipient: string, recipient: string): boolean {
  return originalRecipient.toLowerCase() === `rfc822;${recipient}`.toLowerCase()
}
