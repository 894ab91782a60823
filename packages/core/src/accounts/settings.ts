import { parseAddress } from '../mime/address.ts'
import type { Sql } from '../platform/database/database.ts'
import { invalidParameter } from '../platform/errors.ts'
import { type AccountSettings, REQUIREMENT_MODES } from './account-settings.ts'
import { type Actor, noteChange } from './audit/index.ts'
import { CLASS_PROBLEM, isClassName } from './mail-class.ts'
import { NOTICE_KINDS } from './notices/note-owners.ts'
import { ownsActive, selectSettings, selectTimeZones, updateSettings } from './store.ts'

/** Maximum retention in days, set by the operator. */
export interface MostDays {
  readonly eventDays: number
  readonly bodyDays: number
}

/** Maximum bytes of texts that are added to every message; a sentence is stored with each. */
const TEXT_LIMITS = {
  footerHtml: 10 * 1024,
  footerText: 10 * 1024,
  unsubscribeHtml: 2 * 1024,
  unsubscribeText: 2 * 1024,
} as const
const TEXTS = Object.keys(TEXT_LIMITS) as (keyof typeof TEXT_LIMITS)[]

export interface Settings {
  /** Throws parameterInvalid for an unknown account. */
  show(accountId: number): Promise<AccountSettings>
  /**
   * Sets the given settings and returns all. A blank text is removed. Records the changes in the account's audit log, but only the
   * length of a text.
   *
   * Throws parameterInvalid, which names the setting, and for an unknown account.
   */
  change(accountId: number, change: Partial<AccountSettings>, by: Actor): Promise<AccountSettings>
}

export function createSettings(sql: Sql, most: MostDays): Settings {
  let zones: Promise<Map<string, string>> | undefined

  /**
   * Returns the name as the database writes it. Both Node and the database must know it, because both calculate days.
   */
  async function canonicalZone(name: string): Promise<string> {
    zones ??= selectTimeZones(sql)
    zones.catch(() => {
      zones = undefined
    })
    const zone = isKnownToNode(name) ? (await zones).get(name.toLowerCase()) : undefined
    if (!zone) throw invalidParameter('timeZone', 'must be the IANA name of a time zone, like Europe/Lisbon')
    return zone
  }

  return {
    show: async (accountId) => requireKnown(await selectSettings(sql, accountId)),

    async change(accountId, change, by) {
      const checked = validate(change, most)
      const { timeZone } = checked
      const wanted = timeZone === undefined ? checked : { ...checked, timeZone: await canonicalZone(timeZone) }
      return sql.begin(async (transaction) => {
        const { fallbackSender } = wanted
        if (fallbackSender && !(await ownsActive(transaction, accountId, parseAddress(fallbackSender)?.domain ?? '')))
          throw invalidParameter('fallbackSender', 'must be an address at an active domain of the account')
        const before = requireKnown(await selectSettings(transaction, accountId, { lock: true }))
        const after = { ...before, ...wanted }
        const changed = NAMES.filter((name) => before[name] !== after[name])
        if (changed.length === 0) return before
        await updateSettings(transaction, accountId, after)
        await noteChange(transaction, {
          accountId,
          by,
          action: 'account.change',
          object: `account ${accountId}`,
          before: auditValues(before, changed),
          after: auditValues(after, changed),
        })
        return after
      }) as Promise<AccountSettings>
    },
  }
}

const NAMES = [
  'openTracking',
  'clickTracking',
  'unsubscribeLink',
  'mailClass',
  'footerHtml',
  'footerText',
  'unsubscribeHtml',
  'unsubscribeText',
  'generateText',
  'hostsMaySend',
  'fallbackSender',
  'mailReports',
  'privacyMode',
  'accountNotices',
  'mutedNotices',
  'requirements',
  'timeZone',
  'keepContent',
  'eventDays',
  'bodyDays',
] as const

function requireKnown<T>(settings: T | undefined): T {
  if (!settings) throw invalidParameter('account', 'does not exist')
  return settings
}

function isKnownToNode(zone: string): boolean {
  try {
    // Node also accepts an offset such as +05:30, which is not a name.
    return /^[A-Za-z]/.test(zone) && new Intl.DateTimeFormat('en', { timeZone: zone }) !== undefined
  } catch {
    return false
  }
}

/** Validates the change; blank texts become null. Throws parameterInvalid. */
function validate(change: Partial<AccountSettings>, most: MostDays): Partial<AccountSettings> {
  const checked: { -readonly [Name in keyof AccountSettings]?: AccountSettings[Name] } = { ...change }
  for (const name of TEXTS) {
    const text = change[name]
    if (text === undefined || text === null) continue
    const limit = TEXT_LIMITS[name]
    if (Buffer.byteLength(text) > limit) throw invalidParameter(name, `must be at most ${limit} bytes`)
    // The database cannot store NUL, and lone surrogates would be altered.
    if (text.includes('\0')) throw invalidParameter(name, 'must not contain NUL')
    if (!text.isWellFormed()) throw invalidParameter(name, 'is not well-formed Unicode')
    if (text.trim() === '') checked[name] = null
  }
  if (change.fallbackSender !== undefined)
    checked.fallbackSender = change.fallbackSender?.trim() ? fallbackSenderOf(change.fallbackSender) : null
  if (change.mutedNotices !== undefined) checked.mutedNotices = mutedNoticesOf(change.mutedNotices)
  const { mailClass } = change
  if (mailClass !== undefined && !isClassName(mailClass)) throw invalidParameter('mailClass', CLASS_PROBLEM)
  const { requirements } = change
  if (requirements !== undefined && requirements !== null && !REQUIREMENT_MODES.includes(requirements))
    throw invalidParameter('requirements', 'must be warn or hold, or null for the setting of the operator')
  for (const name of ['eventDays', 'bodyDays'] as const) {
    const days = change[name]
    if (days === undefined || days === null) continue
    const isValid = Number.isInteger(days) && days >= 1 && days <= most[name]
    if (!isValid) throw invalidParameter(name, `must be a whole number from 1 to ${most[name]}`)
  }
  return checked
}

/** Returns the kinds in their order, each once. */
function mutedNoticesOf(written: string): string {
  const given = written
    .split(',')
    .map((kind) => kind.trim().toLowerCase())
    .filter((kind) => kind !== '')
  const unknown = given.find((kind) => !NOTICE_KINDS.some((one) => one === kind))
  if (unknown !== undefined)
    throw invalidParameter('mutedNotices', `must be a comma-separated list of: ${NOTICE_KINDS.join(', ')}`)
  return NOTICE_KINDS.filter((kind) => given.includes(kind)).join(',')
}

function fallbackSenderOf(written: string): string {
  const address = parseAddress(written)
  if (!address) throw invalidParameter('fallbackSender', 'must be an email address')
  return address.text
}

/** Formats settings for the audit log. */
function auditValues(settings: AccountSettings, names: readonly (typeof NAMES)[number][]): Record<string, unknown> {
  const shown = (name: (typeof NAMES)[number]) => {
    const value = settings[name]
    if (!TEXTS.some((one) => one === name)) return value
    return value === null ? null : `${Buffer.byteLength(String(value))} octets`
  }
  return Object.fromEntries(names.map((name) => [name, shown(name)]))
}
