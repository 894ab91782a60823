import type { Credits } from '../accounts/credits/index.ts'
import { LOW_IN } from '../accounts/credits/outlook.ts'
import { SERVICE_MAIL_HOURS, type ServiceMail } from '../messages/service-mail.ts'
import { onlyRow, type Sql } from '../platform/database/database.ts'
import { ServiceError } from '../platform/errors.ts'

/** The mail to the owners of an account of which 80 % of the credit is used. */
export interface CreditNotices {
  /**
   * Looks at some of the accounts with a limit, in turn, and notes those whose owners are to be told: once after each change of the credit by a
   * person and in each period of a recurring credit, whichever process sees it.
   */
  findSome(): Promise<void>
  /**
   * Sends one notice that is due to each owner. Each is sent once, whatever is killed when: its key is idempotent, and it is given up before that
   * expires. Returns undefined if none is due. Any number of processes may call it.
   */
  sendSome(): Promise<{ readonly accountId: number; readonly problem?: string } | undefined>
}

export interface CreditNoticesDependencies {
  readonly sql: Sql
  readonly credits: Credits
  readonly serviceMail: ServiceMail
  readonly publicUrl: string
}

interface Claimed {
  readonly accountId: number
  readonly name: string
  readonly refill: string
  readonly isOn: boolean
  readonly hours: number
}

/** Accounts of one look. */
const CHUNK = 1000
/** Minutes until the next try, doubled with each. A process that has not finished by then is presumed dead. */
const [RETRY_MINUTES, MAX_RETRY_MINUTES] = [1, 60]
/** Owners of an account who are told. */
const MAX_OWNERS = 50

export function createCreditNotices({
  sql,
  credits,
  serviceMail,
  publicUrl,
}: CreditNoticesDependencies): CreditNotices {
  let after = 0

  return {
    async findSome() {
      if (!serviceMail.isPossible) return
      // The same condition as that of the dashboard (accounts/credits/outlook.ts). Read without locks, since accepts lock these rows.
      const { last } = onlyRow(
        await sql<{ last: number | null }[]>`
          with step as (
            select b.account_id, b.granted, b.granted_at, b.recurring_amount, b.balance + recurring_left(b) as available,
                   coalesce(credit_period(b), -1) as period
              from credit_balances b where b.account_id > ${after} order by b.account_id limit ${CHUNK}
          ), noted as (
            insert into credit_notices as n (account_id, granted_at, period)
            select s.account_id, s.granted_at, s.period from step s
             where s.granted + coalesce(s.recurring_amount, 0) > 0
               and s.available * ${LOW_IN}::int <= s.granted + coalesce(s.recurring_amount, 0)
            on conflict (account_id) do update
               set granted_at = excluded.granted_at, period = excluded.period, state = 'waiting', tries = 0,
                   created_at = service_now(), due_at = service_now()
             where (n.granted_at, n.period) is distinct from (excluded.granted_at, excluded.period)
          )
          select case when count(*) = ${CHUNK}::int then max(account_id) end as last from step`,
      )
      after = last ?? 0
    },

    async sendSome() {
      if (!serviceMail.isPossible) return undefined
      const notice = await claim(sql)
      if (!notice) return undefined
      const { accountId, refill, isOn, hours } = notice
      const { credit, granted, runsOutAt, isLow } = await credits.outlook(accountId)
      const owners = await selectOwners(sql, accountId)
      if (!isOn) await save(sql, notice, 'off')
      else if (!isLow) await save(sql, notice, 'refilled')
      else if (owners.length === 0) await save(sql, notice, 'no-owner')
      else if (hours > SERVICE_MAIL_HOURS) await save(sql, notice, 'failed')
      else {
        const figures = {
          left: credit.available ?? 0,
          granted: granted ?? 0,
          runsOutAt,
          url: `${publicUrl}/app/${accountId}/credits`,
        }
        try {
          for (const { userId, email } of owners) {
            const key = `credit notice ${accountId} ${refill} ${userId}`
            await serviceMail.send({
              to: email,
              subject: subjectOf(notice, figures),
              text: textOf(notice, figures),
              key,
            })
          }
        } catch (error) {
          if (error instanceof ServiceError) return { accountId, problem: error.message }
          throw error
        }
        await save(sql, notice, 'sent')
      }
      return { accountId }
    },
  }
}

async function claim(sql: Sql): Promise<Claimed | undefined> {
  const [row] = await sql<Claimed[]>`
    with claimed as (
      update credit_notices
         set tries = tries + 1,
             due_at = service_now() + make_interval(mins => least(${RETRY_MINUTES}::int * power(2, least(tries, 10))::int, ${MAX_RETRY_MINUTES}::int))
       where account_id in (
         select account_id from credit_notices where state = 'waiting' and due_at <= service_now()
          order by due_at limit 1 for update skip locked)
      returning *
    )
    select c.account_id as "accountId", c.granted_at::text || ' ' || c.period as refill, a.name,
           a.account_notices and a.state <> 'deleted' as "isOn", (extract(epoch from service_now() - c.created_at) / 3600)::float8 as hours
      from claimed c join accounts a on a.id = c.account_id`
  return row
}

/** The owners who can log in, with addresses that they confirmed or, for the holder of a subaccount, that its parent gave. */
function selectOwners(sql: Sql, accountId: number): Promise<{ readonly userId: number; readonly email: string }[]> {
  return sql<{ userId: number; email: string }[]>`
    select u.id as "userId", u.email from memberships m join users u on u.id = m.user_id
     where m.account_id = ${accountId} and m.role = 'owner' and u.disabled_at is null and u.email is not null
       and (u.verified_at is not null or u.holder_of is not null)
     order by u.id limit ${MAX_OWNERS}`
}

/** Unless the account has got another refill and notice meanwhile. */
async function save(
  sql: Sql,
  { accountId, refill }: Claimed,
  state: 'sent' | 'off' | 'no-owner' | 'refilled' | 'failed',
): Promise<void> {
  await sql`
    update credit_notices set state = ${state}
     where account_id = ${accountId} and granted_at::text || ' ' || period = ${refill} and state = 'waiting'`
}

interface Figures {
  readonly left: number
  readonly granted: number
  readonly runsOutAt: Date | null
  readonly url: string
}

function subjectOf({ accountId, name }: Claimed, { left }: Figures): string {
  return `The credit of the account ${name} (${accountId}) is ${left === 0 ? 'used up' : 'running low'}`
}

function textOf({ accountId, name }: Claimed, { left, granted, runsOutAt, url }: Figures): string {
  const pace =
    left === 0 || runsOutAt === null
      ? []
      : [`At the pace of the last 14 days it lasts until ${runsOutAt.toISOString().slice(0, 10)}.`]
  return [
    `The account ${name} (${accountId}) has credit for ${left} more recipients, of ${granted} that were granted.`,
    ...pace,
    'Messages to more recipients than there is credit for are refused.',
    '',
    `The credit and its use: ${url}`,
    'To get more, ask the operator of this service or, for a subaccount, its parent account.',
    '',
    'There is one such message after each refill. The account setting accountNotices switches them off.',
    '',
  ].join('\n')
}
