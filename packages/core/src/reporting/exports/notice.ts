import type { Account } from '../../accounts/account.ts'
import { type Principal, requireScope } from '../../accounts/keys/index.ts'
import type { Messages, Submission } from '../../messages/index.ts'
import type { AnySql, Sql } from '../../platform/database/database.ts'
import { ServiceError } from '../../platform/errors.ts'
import type { ExportJob } from './export-job.ts'
import type { StoredExport } from './store.ts'

/**
 * The address a notice comes from: `noreply@` the account's oldest active sending domain, or one its parent shares. Undefined:
 * it has none.
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
  /** What a key allows now; null: nothing any more. */
  readonly principalOf: (keyId: number) => Promise<Principal | null>
}

/**
 * Hands a mail about the job to the account's own outbox, once however often it is called. It is mail of the key that asked for
 * the job: what that may not send, or may not send any more, is not sent. Throws what accept does, and scopeMissing.
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
    // A name no client's key has by chance: the job's own, of this installation's making.
    idempotencyKey: `export notice ${job.id}`,
    fingerprint: Buffer.from(job.id),
  })
}

/**
 * Judges the mail that will tell of a job, before it is made. Throws scopeMissing, keyRestricted and what else accept would; and
 * keyInvalid for a key that has just been revoked.
 */
export async function rehearseNotice(
  dependencies: NoticeDependencies,
  job: Pick<StoredExport, 'accountId' | 'apiKeyId'> & { readonly from: string; readonly to: string },
): Promise<void> {
  const principal = await senderFor(dependencies, job)
  if (!principal) throw new ServiceError('keyInvalid', { reason: 'revoked meanwhile' })
  const mail = plainMail({ principal, from: job.from, to: job.to, clientAddress: '127.0.0.1' })
  const content = { kind: 'parts', html: undefined, text: 'rehearsal', amp: undefined } as const
  await dependencies.messages.rehearse({ ...mail, subject: 'Export', content })
}

interface PlainMail {
  readonly principal: Principal
  readonly from: string
  readonly to: string
  readonly clientAddress: string
}

/** All of a submission but subject, content and idempotency key. */
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
        ...{ to: [to], cc: [], bcc: [], reference: undefined, referenceCc: undefined },
        ...{ attributes: {}, headers: { 'Auto-Submitted': 'auto-generated' }, attachments: [] },
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

/** The account of the job with the rights of the key that asked for it; the operator's have no bounds. */
async function senderFor(
  { sql, principalOf }: NoticeDependencies,
  { accountId, apiKeyId }: Pick<StoredExport, 'accountId' | 'apiKeyId'>,
): Promise<Principal | undefined> {
  const key = apiKeyId === null ? OPERATORS : await principalOf(apiKeyId)
  const account = await selectAccount(sql, accountId)
  if (!key || !account) return undefined
  requireScope(key, 'send')
  const { expired, ...who } = account
  // Nothing is added: the link must lead to the file, and nobody else reads it.
  const mailDefaults = {
    ...{ openTracking: false, clickTracking: false, unsubscribe: false },
    ...{ footerHtml: null, footerText: null },
  }
  return { ...key, account: who, expired: expired || key.expired, mailDefaults }
}

const OPERATORS: Omit<Principal, 'account' | 'mailDefaults'> = {
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
  return `${what} is ready: ${rows} events.\n\n${url}\n\nWhoever has this link can download the file, until ${until} UTC.\n`
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
