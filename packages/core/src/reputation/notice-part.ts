import type { Notice, NoticeAccount, NoticePart } from '../accounts/notices/notice.ts'
import type { HoldLevel } from '../delivery/queue/account-holds.ts'
import type { Sql } from '../platform/database/database.ts'
import { noticeSubject, noticeText } from './notice-text.ts'
import { REQUIREMENTS } from './other-holds.ts'

/** Domains that one notice names. */
const MAX_NAMED = 20

/** Returns the part of the mail to the owners about the account's standing. */
export async function reputationPart(
  sql: Sql,
  { accountId, name }: NoticeAccount,
  { subject: rule, detail, createdAt }: Notice,
): Promise<NoticePart> {
  const { level, classes, figures } = detail as {
    readonly level: HoldLevel
    readonly classes: readonly string[]
    readonly figures: Readonly<Record<string, number>>
  }
  const domains = rule === REQUIREMENTS ? await lackingDomains(sql, accountId) : []
  const notice = { accountId, name, rule, level, classes, figures, domains, createdAt }
  return { title: noticeSubject(notice), lines: noticeText(notice) }
}

/** The domains that a notice about what large receivers demand names, the latest first. */
async function lackingDomains(sql: Sql, accountId: number): Promise<string[]> {
  const rows = await sql<{ name: string }[]>`
    select d.name from domains d join domain_guards g on g.domain_id = d.id
     where d.account_id = ${accountId} and d.deleted_at is null and d.state <> 'pending' and g.lacks <> '{}'
     order by g.lacking_since desc, d.name limit ${MAX_NAMED}`
  return rows.map(({ name }) => name)
}
