import type { Sql } from '../platform/database/database.ts'
import { invalidParameter } from '../platform/errors.ts'
import type { AccountSettings } from './account-settings.ts'
import { type Actor, noteChange } from './audit/index.ts'
import { selectSettings, selectTimeZones, updateSettings } from './store.ts'

/** How long anything is kept at most, in days; the operator says. */
export interface MostDays {
  readonly eventDays: number
  readonly bodyDays: number
}

/** Octets of a footer, which goes with every message. */
const FOOTER_LIMIT = 10 * 1024

export interface Settings {
  /** Throws parameterInvalid for an unknown account. */
  show(accountId: number): Promise<AccountSettings>
  /**
   * Sets those named and answers all; of a blank footer none is left. Notes in the account's audit log what changed, of a
   * footer only how long it is.
   *
   * Throws parameterInvalid, which names the setting, and for an unknown account.
   */
  change(accountId: number, change: Partial<AccountSettings>, by: Actor): Promise<AccountSettings>
}

export function settingsOf(sql: Sql, most: MostDays): Settings {
  let zones: Promise<Map<string, string>> | undefined

  /** The name as the database writes it. Both the platform and the database must know it: days are reckoned in both. */
  async function zoneOf(name: string): Promise<string> {
    zones ??= selectTimeZones(sql)
    zones.catch(() => {
      zones = undefined
    })
    const zone = isKnownHere(name) ? (await zones).get(name.toLowerCase()) : undefined
    if (!zone) throw invalidParameter('timeZone', 'must be the IANA name of a time zone, like Europe/Lisbon')
    return zone
  }

  return {
    show: async (accountId) => known(await selectSettings(sql, accountId)),

    async change(accountId, change, by) {
      const checked = checkedOf(change, most)
      const { timeZone } = checked
      const wanted = timeZone === undefined ? checked : { ...checked, timeZone: await zoneOf(timeZone) }
      return sql.begin(async (transaction) => {
        const before = known(await selectSettings(transaction, accountId, { lock: true }))
        const after = { ...before, ...wanted }
        const changed = NAMES.filter((name) => before[name] !== after[name])
        if (changed.length === 0) return before
        await updateSettings(transaction, accountId, after)
        await noteChange(transaction, {
          ...{ accountId, by, action: 'account.change', object: `account ${accountId}` },
          ...{ before: told(before, changed), after: told(after, changed) },
        })
        return after
      }) as Promise<AccountSettings>
    },
  }
}

const NAMES = [
  ...(['openTracking', 'clickTracking', 'unsubscribeLink', 'footerHtml', 'footerText'] as const),
  ...(['privacyMode', 'timeZone', 'eventDays', 'bodyDays'] as const),
] as const

function known<T>(settings: T | undefined): T {
  if (!settings) throw invalidParameter('account', 'does not exist')
  return settings
}

function isKnownHere(zone: string): boolean {
  try {
    // An offset like +05:30 is one to the platform, and no name.
    return /^[A-Za-z]/.test(zone) && new Intl.DateTimeFormat('en', { timeZone: zone }) !== undefined
  } catch {
    return false
  }
}

/** Throws parameterInvalid. Blank footers become null. */
function checkedOf(change: Partial<AccountSettings>, most: MostDays): Partial<AccountSettings> {
  const checked: { -readonly [Name in keyof AccountSettings]?: AccountSettings[Name] } = { ...change }
  for (const name of ['footerHtml', 'footerText'] as const) {
    const footer = change[name]
    if (footer === undefined || footer === null) continue
    if (Buffer.byteLength(footer) > FOOTER_LIMIT) throw invalidParameter(name, `must be at most ${FOOTER_LIMIT} bytes`)
    // The database takes every text but NUL; lone surrogates would come back changed.
    if (footer.includes('\0')) throw invalidParameter(name, 'must not contain NUL')
    if (!footer.isWellFormed()) throw invalidParameter(name, 'is not well-formed Unicode')
    if (footer.trim() === '') checked[name] = null
  }
  for (const name of ['eventDays', 'bodyDays'] as const) {
    const days = change[name]
    if (days === undefined || days === null) continue
    const fits = Number.isInteger(days) && days >= 1 && days <= most[name]
    if (!fits) throw invalidParameter(name, `must be a whole number from 1 to ${most[name]}`)
  }
  return checked
}

/** For the audit log. */
function told(settings: AccountSettings, names: readonly (typeof NAMES)[number][]): Record<string, unknown> {
  const shown = (name: (typeof NAMES)[number]) => {
    const value = settings[name]
    if (name !== 'footerHtml' && name !== 'footerText') return value
    return value === null ? null : `${Buffer.byteLength(String(value))} octets`
  }
  return Object.fromEntries(names.map((name) => [name, shown(name)]))
}
