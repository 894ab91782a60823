import type { Account } from '../../accounts/account.ts'
import { type Principal, requireScope } from '../../accounts/keys/index.ts'
import { DELIVERY_CLASSES, NORMAL } from '../../accounts/mail-class.ts'
import type { Messages, Submission } from '../../messages/index.ts'
import type { AnySql, Sql } from '../../platform/database/database.ts'
import { ServiceError } from '../../platform/errors.ts'
import type { ExportJob } from './export-job.ts'
import type { StoredExport } from './store.ts'

/**
 * Returns the sender address of notices: `noreply@` the account's oldest active sending domain, or one that its parent shares.
 * Undefined if there is none.
 */
export async function noticeSender(sql: AnySql, accountId: number): Promise<string | undefined> {
  const [domain] = await sql<{ name: string }[]>`
    select d.name from domains d
     where d.state = 'active' and d.deleted_at is null
       and (d.account_id = ${accountId}
            or (d.shared and d.account_id = (select parent_id from accounts where id = ${accountId})))
     order by d.account_id = ${accountId} desc, d.id limit 1`
  return domain && `noreply@${domain.name}`
}

export interface NoticeDependencies {
  readonly sql: Sql
  readonly messages: Messages
  /** Returns the current permissions of a key; null if it is no longer valid. */
  readonly principalOf: (keyId: number) => Promise<Principal | null>
}

/**
 * Sends an email about the job from the account, only once even if called repeatedly. It is sent with the API key that requested
 * the job, so it is not sent if that key is not, or no longer, permitted to. Throws the errors of `accept`, and scopeMissing.
 */
export async function mailNotice(
  dependencies: NoticeDependencies,
  stored: StoredExport,
  job: ExportJob,
): Promise<void> {
  const from = await noticeSender(dependencies.sql, stored.accountId)
  const principal = await senderFor(dependencies, stored)
  if (!from || !principal || stored.email === null) return
  await dependencies.messages.accept({
    ...plainMail({ principal, from, to: stored.email, clientAddress: stored.clientAddress ?? '127.0.0.1' }),
    subject: job.state === 'done' ? `Export ${job.id} is ready` : `Export ${job.id} failed`,
    content: { kind: 'parts', html: undefined, text: textOf(job), amp: undefined },
    // Unlikely to collide with a client's key, because the job's id is random.
    idempotencyKey: `export notice ${job.id}`,
    fingerprint: Buffer.from(job.id),
  })
}

/**
 * Validates the email about a job before the job is created. Throws scopeMissing, keyRestricted and the other errors of `accept`,
 * and keyInvalid if the key has just been revoked.
 */
export async function validateNotice(
  dependencies: NoticeDependencies,
  job: Pick<StoredExport, 'accountId' | 'apiKeyId'> & { readonly from: string; readonly to: string },
): Promise<void> {
  const principal = await senderFor(dependencies, job)
  if (!principal) throw new ServiceError('keyInvalid', { reason: 'key revoked' })
  const mail = plainMail({ principal, from: job.from, to: job.to, clientAddress: '127.0.0.1' })
  const content = { kind: 'parts', html: undefined, text: 'dry run', amp: undefined } as const
  await dependencies.messages.validateOnly({ ...mail, subject: 'Export', content })
}

interface PlainMail {
  readonly principal: Principal
  readonly from: string
  readonly to: string
  readonly clientAddress: string
}

/** Returns a submission without subject and content. */
function plainMail({ principal, from, to, clientAddress }: PlainMail): Omit<Submission, 'subject' | 'content'> {
  return {
    door: 'v2',
    principal,
    clientAddress,
    from: { email: from, name: '' },
    replyTo: undefined,
    templateId: undefined,
    attachmentIds: [],
    attachments: [],
    envelopes: [
      {
        to: [to],
        cc: [],
        bcc: [],
        reference: undefined,
        referenceCc: undefined,
        attributes: {},
        headers: { 'Auto-Submitted': 'auto-generated' },
        attachments: [],
      },
    ],
    tags: [],
    settings: { footer: false, clickTracking: false, openTracking: false, unsubscribe: false },
    scheduledAt: undefined,
    idempotencyKey: undefined,
    fingerprint: undefined,
    nameOf: (field) => field,
  }
}

/** Returns the job's account with the permissions of the key that requested it; those of the operator are unlimited. */
async function senderFor(
  { sql, principalOf }: NoticeDependencies,
  { accountId, apiKeyId }: Pick<StoredExport, 'accountId' | 'apiKeyId'>,
): Promise<Principal | undefined> {
  const key = apiKeyId === null ? OPERATOR_PRINCIPAL : await principalOf(apiKeyId)
  const account = await selectAccount(sql, accountId)
  if (!key || !account) return undefined
  requireScope(key, 'send')
  const { expired, ...who } = account
  // No added content: the download link must not be rewritten for tracking.
  const mailDefaults = {
    openTracking: false,
    clickTracking: false,
    unsubscribe: false,
    mailClass: DELIVERY_CLASSES[NORMAL],
    footerHtml: null,
    footerText: null,
  }
  return { ...key, account: who, expired: expired || key.expired, mailDefaults }
}

const OPERATOR_PRINCIPAL: Omit<Principal, 'account' | 'mailDefaults'> = {
  keyId: 0,
  scopes: ['all'],
  restrictions: null,
  expired: false,
  rates: { calls: null, sends: null, recipients: null },
}

function textOf({ id, state, firstDay, lastDay, rows, url, problem, expiresAt }: ExportJob): string {
  const what = `The export ${id} of the events from ${firstDay} to ${lastDay}`
  if (state !== 'done') return `${what} failed: ${problem}.\n`
  const until = expiresAt?.toISOString().slice(0, 16).replace('T', ' ')
  return `${what} is ready: ${rows} events.\n\n${url}\n\nAnyone with this link can download the file until ${until} UTC.\n`
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
