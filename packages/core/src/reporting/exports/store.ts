import { type AnySql, onlyRow, type Sql } from '../../platform/database/database.ts'
import type { ExportJob } from './export-job.ts'

/** A job with its internal fields. */
export interface StoredExport extends Omit<ExportJob, 'id' | 'url'> {
  readonly id: number
  /** The public id, `exp_…`. */
  readonly publicId: string
  readonly accountId: number
  readonly beginsAt: Date
  readonly endsAt: Date
  readonly callbackUrl: string | null
  readonly email: string | null
  /** The API key with which it was requested, and the client's address. */
  readonly apiKeyId: number | null
  readonly clientAddress: string | null
  /** The parts contain all events up to this number; finally all up to `lastNumber`. Null until begun. */
  readonly position: number | null
  readonly lastNumber: number | null
  readonly parts: number
  /** Total size of the parts in bytes. */
  readonly octets: number
  /** Identifies the claimed step; claiming the next step changes it. */
  readonly lease: string
  readonly failures: number
  readonly tellings: number
  readonly callbackTold: boolean
  readonly emailTold: boolean
}

const columns = (sql: AnySql) => sql`
  id::float8 as id, 'exp_' || replace(public_id::text, '-', '') as "publicId", account_id as "accountId", state, format, kinds,
  first_day::text as "firstDay", last_day::text as "lastDay",
  begins_at as "beginsAt", ends_at as "endsAt", callback_url as "callbackUrl", email, api_key_id as "apiKeyId",
  host(client_address) as "clientAddress", created_at as "createdAt", finished_at as "finishedAt", expires_at as "expiresAt",
  position::float8 as position, last_number::float8 as "lastNumber", rows::float8 as rows, parts, octets::float8 as octets,
  due_at::text as lease, failures, problem, tellings, callback_told as "callbackTold", email_told as "emailTold"`

type NewRow = Pick<
  StoredExport,
  'accountId' | 'format' | 'kinds' | 'firstDay' | 'lastDay' | 'beginsAt' | 'endsAt' | 'callbackUrl' | 'email'
> &
  Pick<StoredExport, 'apiKeyId' | 'clientAddress'>

/** Inserts a queued job and returns it. */
export async function insertJob(sql: AnySql, row: NewRow): Promise<StoredExport> {
  return onlyRow(
    await sql<StoredExport[]>`
      insert into export_jobs (account_id, format, kinds, first_day, last_day, begins_at, ends_at, callback_url, email,
                               api_key_id, client_address)
      values (${row.accountId}, ${row.format}, ${[...row.kinds]}::text[], ${row.firstDay}::text::date, ${row.lastDay}::text::date,
              ${row.beginsAt}, ${row.endsAt}, ${row.callbackUrl}, ${row.email}, ${row.apiKeyId}, ${row.clientAddress}::inet)
      returning ${columns(sql)}`,
  )
}

/** Returns the numbers of all jobs of the account, and of those that are queued or running. */
export async function countJobs(sql: AnySql, accountId: number): Promise<{ kept: number; open: number }> {
  return onlyRow(
    await sql<{ kept: number; open: number }[]>`
      select count(*)::int as kept, (count(*) filter (where state in ('queued', 'running')))::int as open
        from export_jobs where account_id = ${accountId}`,
  )
}

/** Returns a job by its UUID; undefined if it does not exist or has expired. */
export async function selectJob(sql: AnySql, accountId: number, uuid: string): Promise<StoredExport | undefined> {
  const [job] = await sql<StoredExport[]>`
    select ${columns(sql)} from export_jobs
     where public_id = ${uuid}::text::uuid and account_id = ${accountId} and (expires_at is null or expires_at > service_now())`
  return job
}

/** Returns a finished job regardless of its account. */
export async function selectFinished(sql: AnySql, id: number): Promise<StoredExport | undefined> {
  const [job] = await sql<StoredExport[]>`
    select ${columns(sql)} from export_jobs where id = ${id} and state = 'done' and expires_at > service_now()`
  return job
}

/** Returns jobs of the account, the latest first. */
export async function selectJobs(
  sql: AnySql,
  accountId: number,
  { limit, before }: { limit: number; before: number | undefined },
): Promise<StoredExport[]> {
  return sql<StoredExport[]>`
    select ${columns(sql)} from export_jobs
     where account_id = ${accountId} and id < ${before ?? Number.MAX_SAFE_INTEGER}
       and (expires_at is null or expires_at > service_now())
     order by id desc limit ${limit}`
}

/** Deletes a queued job and returns whether there was one. */
export async function deleteQueued(sql: AnySql, accountId: number, id: number): Promise<boolean> {
  const { count } = await sql`
    delete from export_jobs where id = ${id} and account_id = ${accountId} and state = 'queued'`
  return count > 0
}

/** Time after which another worker may take over a claimed step. */
const STEP_LEASE = '30 seconds'

/** Claims the job that has waited longest for a step. */
export async function takeDue(sql: AnySql): Promise<StoredExport | undefined> {
  const [job] = await sql<StoredExport[]>`
    update export_jobs set state = 'running', due_at = service_now() + ${STEP_LEASE}::text::interval
     where id = (select id from export_jobs where state in ('queued', 'running') and due_at <= service_now()
                  order by due_at limit 1 for update skip locked)
    returning ${columns(sql)}`
  return job
}

/** Whether the claim of this step is in a snapshot. */
export async function isClaimed(sql: AnySql, { id, lease }: StoredExport): Promise<boolean> {
  const rows = await sql`select from export_jobs where id = ${id} and due_at = ${lease}::text::timestamptz`
  return rows.length > 0
}

/** Stores a part of a job's file. */
export async function insertPart(sql: AnySql, jobId: number, number: number, content: Buffer): Promise<void> {
  await sql`insert into export_parts (job_id, number, content) values (${jobId}, ${number}, ${content})`
}

/** Returns a part of a job's file; undefined if it has been deleted. */
export async function selectPart(sql: Sql, jobId: number, number: number): Promise<Buffer | undefined> {
  const [part] = await sql<{ content: Buffer }[]>`
    select content from export_parts where job_id = ${jobId} and number = ${number}`
  return part?.content
}

/**
 * Stores the progress of a job and makes its next step due after those of waiting jobs. Returns false if another worker has claimed
 * the step, because this one was too slow, or the job was restarted; then nothing of the step may be stored.
 */
export async function saveStep(
  sql: AnySql,
  before: StoredExport,
  job: Pick<StoredExport, 'position' | 'lastNumber' | 'rows' | 'parts' | 'octets'>,
): Promise<boolean> {
  const { count } = await sql`
    update export_jobs
       set position = ${job.position}, last_number = ${job.lastNumber}, rows = ${job.rows}, parts = ${job.parts},
           octets = ${job.octets}, failures = 0, due_at = service_now()
     where id = ${before.id} and state = 'running' and due_at = ${before.lease}::text::timestamptz`
  return count > 0
}

/** Finishes a job. The files of failed jobs are deleted. */
export async function saveEnd(
  sql: AnySql,
  id: number,
  { state, problem, keptDays }: { state: 'done' | 'failed'; problem: string | null; keptDays: number },
): Promise<void> {
  if (state === 'failed') await sql`delete from export_parts where job_id = ${id}`
  await sql`
    update export_jobs
       set state = ${state}, problem = ${problem}, finished_at = service_now(),
           expires_at = service_now() + make_interval(days => ${keptDays}),
           tell_at = case when callback_url is not null or email is not null then service_now() end
     where id = ${id}`
}

/** Postpones a job whose step failed. Returns the number of consecutive internal errors. */
export async function postponeStep(
  sql: AnySql,
  id: number,
  { seconds, fault }: { seconds: number; fault: boolean },
): Promise<number> {
  const [job] = await sql<{ failures: number }[]>`
    update export_jobs set failures = failures + ${fault ? 1 : 0}, due_at = service_now() + make_interval(secs => ${seconds})
     where id = ${id} and state = 'running' returning failures`
  return job?.failures ?? 0
}

/** Returns the total size of the account's files in bytes. */
export async function sumOctets(sql: AnySql, accountId: number): Promise<number> {
  return onlyRow(
    await sql<{ octets: number }[]>`
      select coalesce(sum(octets), 0)::float8 as octets from export_jobs
       where account_id = ${accountId} and state in ('running', 'done')`,
  ).octets
}

/** Seconds after the n-th notification attempt until the next. A worker that has not finished by then is presumed dead. */
const RETRY_SECONDS = [60, 300, 1800, 7200, 18_000, 43_200, 86_400]

/**
 * Claims the job that has waited longest for its notification, except those of these accounts. It is due again later unless the
 * notification is recorded as done.
 */
export async function claimNotification(sql: AnySql, except: readonly number[]): Promise<StoredExport | undefined> {
  const [job] = await sql<StoredExport[]>`
    update export_jobs
       set tellings = tellings + 1,
           tell_at = service_now() + make_interval(secs => (${RETRY_SECONDS}::int[])[least(tellings + 1, ${RETRY_SECONDS.length})])
     where id = (select id from export_jobs
                  where tell_at <= service_now() and account_id <> all(${[...except]}::int[])
                  order by tell_at limit 1 for update skip locked)
    returning ${columns(sql)}`
  return job
}

/** Maximum number of notification attempts. */
export const MAX_NOTIFICATION_ATTEMPTS = RETRY_SECONDS.length + 1

/** Records which notifications were sent; with `over` there are no further attempts. */
export async function saveTold(
  sql: AnySql,
  id: number,
  { callbackTold, emailTold, over }: { callbackTold: boolean; emailTold: boolean; over: boolean },
): Promise<void> {
  await sql`
    update export_jobs
       set callback_told = ${callbackTold}, email_told = ${emailTold}, tell_at = case when ${!over} then tell_at end
     where id = ${id}`
}

/** Deletes up to `limit` expired jobs with their files. Returns their number. */
export async function deleteExpired(sql: AnySql, limit: number): Promise<number> {
  const { count } = await sql`
    delete from export_jobs
     where id in (select id from export_jobs where expires_at <= service_now() order by expires_at limit ${limit}
                     for update skip locked)`
  return count
}
