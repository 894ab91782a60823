import type { Credits } from '../../accounts/credits/index.ts'
import { type ExpiringKey, noteExpiringKeys, selectExpiringKeys } from '../../accounts/notices/expiring-keys.ts'
import { type NewNotice, noteOwners } from '../../accounts/notices/note-owners.ts'
import type { Notice, NoticePart } from '../../accounts/notices/notice.ts'
import { SERVICE_MAIL_HOURS, type ServiceMail } from '../../messages/service-mail.ts'
import { parseAddress } from '../../mime/address.ts'
import type { Sql } from '../../platform/database/database.ts'
import { ServiceError } from '../../platform/errors.ts'
import { reputationPart } from '../../reputation/notice-part.ts'
import { REQUIREMENTS } from '../../reputation/other-holds.ts'
import { createColleagueLook, type SuppressedColleague, selectSuppressedColleagues } from './colleagues.ts'
import { createCreditLook, creditPart } from './credit-notices.ts'
import { mailSubject, mailText, partOf } from './notice-texts.ts'
import {
  type Bundle,
  claimBundle,
  type EndedImport,
  type NoticeState,
  saveBundle,
  selectEndedImports,
  selectNotices,
  selectOwners,
} from './store.ts'

/** Mail to the owners of accounts about what they have to see to. */
export interface OwnerNotices {
  /** Looks for what no transaction notes: credit that runs low, keys that expire, members whose addresses are suppressed. */
  findSome(): Promise<void>
  /** Notes something at once, for a caller without a transaction. */
  note(notice: NewNotice): Promise<void>
  /**
   * Sends the mail that is due to the owners of one account, with all notices that wait. It is sent once, whatever is killed when: its key is idempotent,
   * and it is given up before that expires. Returns undefined if none is due. Any number of processes may call it.
   */
  sendSome(): Promise<{ readonly accountId: number; readonly problem?: string } | undefined>
  /** Returns what the owners have to see to now, of what only this module knows. */
  attention(accountId: number): Promise<Attention>
  /** Deletes some old notices. Returns their number. */
  forgetOld(): Promise<number>
}

export interface Attention {
  readonly keys: readonly ExpiringKey[]
  readonly colleagues: readonly SuppressedColleague[]
  /** Those of the last 7 days. */
  readonly imports: readonly EndedImport[]
}

export interface OwnerNoticesDependencies {
  readonly sql: Sql
  readonly credits: Credits
  readonly serviceMail: ServiceMail
  readonly publicUrl: string
}

/** Days after which a notice is deleted. What lasts longer than that is told again. */
const RETENTION_DAYS = 366
const FORGOTTEN = 1000
/** Milliseconds between looks that read all members or keys in turn. */
const SLOW_LOOK_MS = 60_000

export function createOwnerNotices(dependencies: OwnerNoticesDependencies): OwnerNotices {
  const { sql, serviceMail } = dependencies
  const [lookAtCredit, lookAtColleagues] = [createCreditLook(sql), createColleagueLook(sql)]
  let slowAt = Number.NEGATIVE_INFINITY

  return {
    async findSome() {
      if (serviceMail.isPossible) await lookAtCredit()
      if (performance.now() - slowAt < SLOW_LOOK_MS) return
      slowAt = performance.now()
      await noteExpiringKeys(sql)
      if (serviceMail.isPossible) await lookAtColleagues()
    },
    note: (notice) => noteOwners(sql, [notice]),
    async sendSome() {
      if (!serviceMail.isPossible) return undefined
      const bundle = await claimBundle(sql)
      if (!bundle) return undefined
      try {
        await saveBundle(sql, bundle, await send(dependencies, bundle))
      } catch (error) {
        if (error instanceof ServiceError) return { accountId: bundle.accountId, problem: error.message }
        throw error
      }
      return { accountId: bundle.accountId }
    },
    async attention(accountId) {
      const [keys, colleagues, imports] = await Promise.all([
        selectExpiringKeys(sql, accountId),
        selectSuppressedColleagues(sql, accountId),
        selectEndedImports(sql, accountId),
      ])
      return { keys, colleagues, imports }
    },
    async forgetOld() {
      const { count } = await sql`
        delete from owner_notices where (account_id, kind, subject) in (
          select account_id, kind, subject from owner_notices
           where created_at < service_now() - make_interval(days => ${RETENTION_DAYS}) order by created_at limit ${FORGOTTEN})`
      return count
    },
  }
}

/** Sends a bundle, and returns what became of its notices. Throws the errors of `accept`. */
async function send(
  dependencies: OwnerNoticesDependencies,
  bundle: Bundle,
): Promise<readonly (readonly [Notice, NoticeState])[]> {
  const { sql, serviceMail, publicUrl } = dependencies
  const { accountId, number, hours, isOn, muted } = bundle
  const notices = await selectNotices(sql, bundle)
  const isWanted = ({ kind }: Notice) => isOn && !muted.includes(kind)
  const wanted = await Promise.all(
    notices.filter(isWanted).map(async (notice) => ({ notice, part: await partFor(dependencies, bundle, notice) })),
  )
  const due = wanted.flatMap(({ notice, part }) => (part ? [{ notice, part }] : []))
  const { to, told } = await recipientsOf(dependencies, bundle, due)
  const stateOf = (notice: Notice): NoticeState => {
    if (!isWanted(notice)) return 'off'
    if (!due.some((one) => one.notice === notice)) return 'over'
    if (!told.some((one) => one.notice === notice)) return 'no-address'
    return hours > SERVICE_MAIL_HOURS ? 'failed' : 'sent'
  }
  if (hours <= SERVICE_MAIL_HOURS && told.length > 0) {
    const parts = told.map(({ part }) => part)
    const mail = { subject: mailSubject(bundle, parts), text: mailText(bundle, parts, publicUrl) }
    for (const address of to)
      await serviceMail.send({ ...mail, to: address, key: `owner notices ${accountId} ${number} ${address}` })
    await copyToOperator(dependencies, bundle, { told, to })
  }
  return notices.map((notice) => [notice, stateOf(notice)] as const)
}

interface Due {
  readonly notice: Notice
  readonly part: NoticePart
}

/** The owners; without any, the address of the account, or the operator, who learns of its standing only. */
async function recipientsOf({ sql, serviceMail }: OwnerNoticesDependencies, bundle: Bundle, due: readonly Due[]) {
  const owners = await selectOwners(sql, bundle.accountId)
  if (owners.length > 0) return { to: owners, told: due }
  const own = parseAddress(bundle.email ?? '')?.text
  if (own !== undefined) return { to: [own], told: due }
  const told = serviceMail.operatorMail === undefined ? [] : due.filter(({ notice }) => notice.kind === 'reputation')
  return { to: serviceMail.operatorMail === undefined ? [] : [serviceMail.operatorMail], told }
}

/** No figure of the installation has bulk mail that waits for what receivers demand, and the operator decides whether it does. */
async function copyToOperator(
  { serviceMail, publicUrl }: OwnerNoticesDependencies,
  bundle: Bundle,
  { told, to }: { readonly told: readonly Due[]; readonly to: readonly string[] },
): Promise<void> {
  const { operatorMail } = serviceMail
  const parts = told.flatMap(({ notice, part }) => (notice.subject === REQUIREMENTS ? [part] : []))
  if (operatorMail === undefined || to.includes(operatorMail) || parts.length === 0) return
  const mail = { subject: mailSubject(bundle, parts), text: mailText(bundle, parts, publicUrl) }
  await serviceMail.send({
    ...mail,
    to: operatorMail,
    key: `owner notices ${bundle.accountId} ${bundle.number} operator`,
  })
}

/** Undefined if the notice is no longer true. */
async function partFor(
  dependencies: OwnerNoticesDependencies,
  bundle: Bundle,
  notice: Notice,
): Promise<NoticePart | undefined> {
  const { kind } = notice
  if (kind === 'credit') return creditPart(bundle, dependencies)
  if (kind === 'reputation') return reputationPart(dependencies.sql, bundle, notice)
  return partOf(bundle, { ...notice, kind }, dependencies.publicUrl)
}
