import type { Credits } from '../../accounts/credits/index.ts'
import { LOW_IN } from '../../accounts/credits/outlook.ts'
import { noteOwners } from '../../accounts/notices/note-owners.ts'
import type { NoticeAccount, NoticePart } from '../../accounts/notices/notice.ts'
import type { Sql } from '../../platform/database/database.ts'

/** Accounts of one look. */
const CHUNK = 1000

/**
 * Returns a function that looks at some of the accounts with a limit, in turn, and notes those of which 80 % of the credit is used: once after each change
 * of the credit by a person and in each period of a recurring credit, whichever process sees it.
 */
export function createCreditLook(sql: Sql): () => Promise<void> {
  let after = 0
  return async () => {
    // The same condition as that of the dashboard (accounts/credits/outlook.ts). Read without locks, since accepts lock these rows.
    const rows = await sql<{ accountId: number; mark: string; isLow: boolean }[]>`
      select s."accountId", s.granted_at::text || ' ' || s.period as mark,
             s.granted + coalesce(s.recurring_amount, 0) > 0 and s.available * ${LOW_IN}::int <= s.granted + coalesce(s.recurring_amount, 0) as "isLow"
        from (select b.account_id as "accountId", b.granted, b.granted_at, b.recurring_amount, b.balance + recurring_left(b) as available,
                     coalesce(credit_period(b), -1) as period
                from credit_balances b where b.account_id > ${after} order by b.account_id limit ${CHUNK}) s
       order by 1`
    const low = rows.filter(({ isLow }) => isLow)
    await noteOwners(
      sql,
      low.map(({ accountId, mark }) => ({ accountId, kind: 'credit', subject: '', mark, detail: {} })),
    )
    after = rows.length === CHUNK ? (rows.at(-1)?.accountId ?? 0) : 0
  }
}

/** Returns the part about the credit; undefined if it was refilled meanwhile. */
export async function creditPart(
  { accountId, name }: NoticeAccount,
  { credits, publicUrl }: { readonly credits: Credits; readonly publicUrl: string },
): Promise<NoticePart | undefined> {
  const { credit, granted, runsOutAt, isLow } = await credits.outlook(accountId)
  if (!isLow) return undefined
  const left = credit.available ?? 0
  const pace =
    left === 0 || runsOutAt === null
      ? []
      : [`At the pace of the last 14 days it lasts until ${runsOutAt.toISOString().slice(0, 10)}.`]
  return {
    title: `The credit of the account ${name} (${accountId}) is ${left === 0 ? 'used up' : 'running low'}`,
    lines: [
      `The account ${name} (${accountId}) has credit for ${left} more recipients, of ${granted ?? 0} that were granted.`,
      ...pace,
      'Messages to more recipients than there is credit for are refused.',
      '',
      `The credit and its use: ${publicUrl}/app/${accountId}/credits`,
      'To get more, ask the operator of this service or, for a subaccount, its parent account.',
    ],
  }
}
