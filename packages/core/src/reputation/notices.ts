import { SERVICE_MAIL_HOURS, type ServiceMail } from '../messages/service-mail.ts'
import { parseAddress } from '../mime/address.ts'
import type { Sql } from '../platform/database/database.ts'
import { ServiceError } from '../platform/errors.ts'
import { type AccountNotice, noticeSubject, noticeText } from './notice-text.ts'
import { REQUIREMENTS } from './other-holds.ts'

export interface NoticeDependencies {
  readonly sql: Sql
  readonly serviceMail: ServiceMail
}

/** A claimed notice. */
interface Claimed extends AccountNotice {
  readonly day: string
  readonly email: string | null
  readonly isOn: boolean
  readonly hours: number
}

/** The result of a round; `problem`: why a notice could not be sent yet. It is tried again. */
export interface Notified {
  readonly accountId: number
  readonly problem?: string
}

/** Days after which notices are deleted. */
const NOTICE_DAYS = 31
/** Minutes until the next try, doubled with each. A process that has not finished by then is presumed dead. */
const [RETRY_MINUTES, MAX_RETRY_MINUTES] = [1, 60]
const CHUNK = 1000
/** Domains that one notice names. */
const MAX_NAMED = 20

/**
 * Sends one notice that is due to the owner of its account, or to the operator if the account has no address. Each is sent once, whatever is
 * killed when: its key is idempotent, and it is given up before that expires. Returns undefined if none is due. Any number of processes may
 * call it.
 */
export async function notifySome({ sql, serviceMail }: NoticeDependencies): Promise<Notified | undefined> {
  if (!serviceMail.isPossible) return undefined
  const notice = await claimNotice(sql)
  if (!notice) return undefined
  const { accountId, email, isOn, hours, rule } = notice
  const { operatorMail } = serviceMail
  const owner = parseAddress(email ?? '')?.text
  const to = owner ?? operatorMail
  // No figure of the installation has it, and the operator decides whether such mail waits.
  const copyTo = rule === REQUIREMENTS && to !== operatorMail ? operatorMail : undefined
  if (!isOn) await saveNotice(sql, notice, 'off', null)
  else if (to === undefined) await saveNotice(sql, notice, 'no-address', null)
  else if (hours > SERVICE_MAIL_HOURS) await saveNotice(sql, notice, 'failed', null)
  else {
    try {
      const key = `account notice ${accountId} ${rule} ${notice.day}`
      const mail = { subject: noticeSubject(notice), text: noticeText(notice) }
      const { messageId } = await serviceMail.send({ ...mail, to, key })
      if (copyTo !== undefined) await serviceMail.send({ ...mail, to: copyTo, key: `${key} operator` })
      await saveNotice(sql, notice, 'sent', messageId)
    } catch (error) {
      if (error instanceof ServiceError) return { accountId, problem: error.message }
      throw error
    }
  }
  return { accountId }
}

/** Deletes some old notices. Returns their number. */
export async function forgetNotices(sql: Sql): Promise<number> {
  const { count } = await sql`
    delete from account_notices where (account_id, rule, day) in (
      select account_id, rule, day from account_notices
       where created_at < service_now() - make_interval(days => ${NOTICE_DAYS}) order by created_at limit ${CHUNK})`
  return count
}

async function claimNotice(sql: Sql): Promise<Claimed | undefined> {
  const [row] = await sql<Claimed[]>`
    with claimed as (
      update account_notices
         set tries = tries + 1,
             due_at = service_now() + make_interval(mins => least(${RETRY_MINUTES}::int * power(2, least(tries, 10))::int, ${MAX_RETRY_MINUTES}::int))
       where (account_id, rule, day) in (
         select account_id, rule, day from account_notices where state = 'waiting' and due_at <= service_now()
          order by due_at limit 1 for update skip locked)
      returning *
    )
    select c.account_id as "accountId", c.rule, c.day::text as day, c.level, c.classes, c.figures, c.created_at as "createdAt", a.name, a.email,
           ${lackingDomains(sql)} as domains,
           a.account_notices and a.state <> 'deleted' as "isOn", (extract(epoch from service_now() - c.created_at) / 3600)::float8 as hours
      from claimed c join accounts a on a.id = c.account_id`
  return row
}

/** The domains that a notice about what large receivers demand names, the latest first. */
function lackingDomains(sql: Sql): ReturnType<Sql> {
  return sql`
    case when c.rule = ${REQUIREMENTS} then array(
      select d.name from domains d join domain_guards g on g.domain_id = d.id
       where d.account_id = c.account_id and d.deleted_at is null and d.state <> 'pending' and g.lacks <> '{}'
       order by g.lacking_since desc, d.name limit ${MAX_NAMED}) else '{}' end`
}

async function saveNotice(
  sql: Sql,
  { accountId, rule, day }: Claimed,
  state: 'sent' | 'off' | 'no-address' | 'failed',
  messageId: string | null,
): Promise<void> {
  await sql`
    update account_notices set state = ${state}, message_id = ${messageId}::uuid
     where account_id = ${accountId} and rule = ${rule} and day = ${day}::text::date and state = 'waiting'`
}
