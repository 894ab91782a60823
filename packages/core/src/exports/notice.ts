import type { Account } from '../accounts/account.ts'
import type { AnySql, Sql } from '../database.ts'
import type { Messages } from '../messages/index.ts'
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
}

/** Hands a mail about the job to the account's own outbox, once however often it is called. Throws what accept does. */
export async function mailNotice(
  { sql, messages }: NoticeDependencies,
  stored: StoredExport,
  job: ExportJob,
): Promise<void> {
  const from = await noticeSender(sql, stored.accountId)
  const account = await selectAccount(sql, stored.accountId)
  if (!from || !account || stored.email === null) return
  const { expired, ...who } = account
  await messages.accept({
    door: 'v2',
    principal: {
      ...{ account: who, keyId: stored.apiKeyId ?? 0, scopes: ['send'], restrictions: null, expired },
      rates: { calls: null, sends: null, recipients: null },
      // Nothing is added: the link must lead to the file, and nobody else reads it.
      mailDefaults: {
        openTracking: false,
        clickTracking: false,
        unsubscribe: false,
        footerHtml: null,
        footerText: null,
      },
    },
    clientAddress: stored.clientAddress ?? '127.0.0.1',
    from: { email: from, name: '' },
    subject: job.state === 'done' ? `Export ${job.id} is ready` : `Export ${job.id} failed`,
    replyTo: undefined,
    content: { kind: 'parts', html: undefined, text: textOf(job), amp: undefined },
    templateId: undefined,
    attachmentIds: [],
    attachments: [],
    envelopes: [
      {
        ...{ to: [stored.email], cc: [], bcc: [], reference: job.id, referenceCc: undefined },
        ...{ attributes: {}, headers: { 'Auto-Submitted': 'auto-generated' }, attachments: [] },
      },
    ],
    tags: [],
    settings: { footer: false, clickTracking: false, openTracking: false, unsubscribe: false },
    scheduledAt: undefined,
    // A name no client's key has by chance: the job's own, of this installation's making.
    idempotencyKey: `export notice ${job.id}`,
    fingerprint: Buffer.from(job.id),
    nameOf: (field) => field,
  })
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
