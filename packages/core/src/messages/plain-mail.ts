import type { Account } from '../accounts/account.ts'
import type { Principal } from '../accounts/keys/api-key.ts'
import { DELIVERY_CLASSES, NORMAL } from '../accounts/mail-class.ts'
import type { AnySql } from '../platform/database/database.ts'
import { singleMessage } from '../submission/single-message.ts'
import type { MimeContent, Submission } from '../submission/submission.ts'

export interface PlainMail {
  readonly principal: Principal
  readonly from: { readonly email: string; readonly name: string }
  readonly to: string
  readonly clientAddress: string
}

/** Returns a submission of the service itself, without subject and content. Nothing is added to it, and it says that it is automatic (RFC 3834 5). */
export function plainMail({ principal, from, to, clientAddress }: PlainMail): Omit<Submission, 'subject' | 'content'> {
  const headers = { 'Auto-Submitted': 'auto-generated' }
  return {
    ...singleMessage({ door: 'v2', principal, clientAddress, from, to, headers }),
    settings: { footer: false, clickTracking: false, openTracking: false, unsubscribe: false },
  }
}

/** Returns a whole message of the service itself, without Date and Message-ID, as content. */
export function wholeMessage(mime: Buffer, { nullReturnPath }: Pick<MimeContent, 'nullReturnPath'>): MimeContent {
  const trace = { helo: 'localhost', address: '127.0.0.1', protocol: 'ESMTP' }
  return { kind: 'mime', pieces: [mime], trace, lacksDate: true, lacksMessageId: true, nullReturnPath }
}

/** The permissions of the operator, which are unlimited. */
export const OPERATOR_PRINCIPAL: Omit<Principal, 'account' | 'mailDefaults'> = {
  keyId: 0,
  scopes: ['all'],
  restrictions: null,
  expired: false,
  rates: { calls: null, sends: null, recipients: null },
}

/** Returns an account as the sender of plain mail, with these permissions; undefined if it does not exist. */
export async function plainSender(
  sql: AnySql,
  accountId: number,
  permissions: Omit<Principal, 'account' | 'mailDefaults'>,
): Promise<Principal | undefined> {
  const account = await selectAccount(sql, accountId)
  if (!account) return undefined
  const { expired, ...who } = account
  // No added content: links must not be rewritten for tracking.
  const mailDefaults = {
    openTracking: false,
    clickTracking: false,
    unsubscribe: false,
    mailClass: DELIVERY_CLASSES[NORMAL],
    footerHtml: null,
    footerText: null,
    unsubscribeHtml: null,
    unsubscribeText: null,
    generateText: false,
    keepsContent: true,
  }
  return { ...permissions, account: who, expired: expired || permissions.expired, mailDefaults }
}

type Sending = Account & { readonly expired: boolean }

async function selectAccount(sql: AnySql, id: number): Promise<Sending | undefined> {
  const [row] = await sql<Sending[]>`
    select a.id, a.name, case when p.state <> 'active' then p.state else a.state end as state, a.parent_id as "parentId",
           a.expires_at as "expiresAt", a.created_at as "createdAt",
           coalesce(least(a.expires_at, p.expires_at) <= service_now(), false) as expired
      from accounts a left join accounts p on p.id = a.parent_id where a.id = ${id}`
  return row
}
