import { type Principal, requireScope } from '../../accounts/keys/index.ts'
import type { Messages } from '../../messages/index.ts'
import { OPERATOR_PRINCIPAL, type PlainMail, plainMail, plainSender } from '../../messages/plain-mail.ts'
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
    ...plainMail({
      principal,
      from: sender(from),
      to: stored.email,
      clientAddress: stored.clientAddress ?? '127.0.0.1',
    }),
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
  const mail = plainMail({ principal, from: sender(job.from), to: job.to, clientAddress: '127.0.0.1' })
  const content = { kind: 'parts', html: undefined, text: 'dry run', amp: undefined } as const
  await dependencies.messages.validateOnly({ ...mail, subject: 'Export', content })
}

/** Returns the job's account with the permissions of the key that requested it; those of the operator are unlimited. */
async function senderFor(
  { sql, principalOf }: NoticeDependencies,
  { accountId, apiKeyId }: Pick<StoredExport, 'accountId' | 'apiKeyId'>,
): Promise<Principal | undefined> {
  const key = apiKeyId === null ? OPERATOR_PRINCIPAL : await principalOf(apiKeyId)
  const sender = key && (await plainSender(sql, accountId, key))
  if (sender) requireScope(sender, 'send')
  return sender ?? undefined
}

function sender(email: string): PlainMail['from'] {
  return { email, name: '' }
}

function textOf({ id, state, firstDay, lastDay, rows, url, problem, expiresAt }: ExportJob): string {
  const what = `The export ${id} of the events from ${firstDay} to ${lastDay}`
  if (state !== 'done') return `${what} failed: ${problem}.\n`
  const until = expiresAt?.toISOString().slice(0, 16).replace('T', ' ')
  return `${what} is ready: ${rows} events.\n\n${url}\n\nAnyone with this link can download the file until ${until} UTC.\n`
}
