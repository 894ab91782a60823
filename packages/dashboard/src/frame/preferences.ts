import { LANGUAGES, type Language, preferredLanguage } from '@postrider/ui'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { PreferencesAnswer } from './answer.ts'

const THEMES = ['light', 'dark'] as const

/** Names of the cookies that keep a reader's choices. They decide nothing but looks. */
const LANGUAGE_COOKIE = 'language'
const THEME_COOKIE = 'theme'
const ZONE_COOKIE = 'zone'
const ACCOUNT_COOKIE = 'account'

/** Names of ICU that have been replaced in the time zone database, and are looked for by their new ones. */
const RENAMED: Readonly<Record<string, string>> = {
  'Africa/Asmera': 'Africa/Asmara',
  'Asia/Calcutta': 'Asia/Kolkata',
  'Asia/Katmandu': 'Asia/Kathmandu',
  'Asia/Rangoon': 'Asia/Yangon',
  'Asia/Saigon': 'Asia/Ho_Chi_Minh',
  'Atlantic/Faeroe': 'Atlantic/Faroe',
  'Europe/Kiev': 'Europe/Kyiv',
}
const zones = Intl.supportedValuesOf('timeZone').map((zone) => RENAMED[zone] ?? zone)
/** The time zones that a reader can choose. */
export const TIME_ZONES: readonly string[] = ['UTC', ...zones.filter((zone) => zone !== 'UTC').sort()]
const KNOWN_ZONES = new Set(TIME_ZONES)

/** The language that the visitor chose, else the one that Accept-Language prefers, else English. A request without a route has no cookies. */
export function languageOf({ cookies, headers }: FastifyRequest): Language {
  const chosen = LANGUAGES.find((language) => language === cookies?.[LANGUAGE_COOKIE])
  return chosen ?? preferredLanguage(headers['accept-language'], LANGUAGES)
}

/** "light" or "dark"; empty: as the system. */
export function themeOf({ cookies }: FastifyRequest): string {
  return THEMES.find((theme) => theme === cookies?.[THEME_COOKIE]) ?? ''
}

/** The time zone that the visitor chose; undefined: that of the account. */
export function zoneOf({ cookies }: FastifyRequest): string | undefined {
  const zone = cookies?.[ZONE_COOKIE]
  return zone !== undefined && KNOWN_ZONES.has(zone) ? zone : undefined
}

/** The account whose pages the visitor saw last; its navigation stays on pages of no account. */
export function lastAccount<A extends { readonly id: number }>(
  { cookies }: Pick<FastifyRequest, 'cookies'>,
  accounts: readonly A[],
): A | undefined {
  return (
    accounts.find(({ id }) => String(id) === cookies?.[ACCOUNT_COOKIE]) ??
    (accounts.length === 1 ? accounts[0] : undefined)
  )
}

/** Choices of a time zone: those that are known, and the present one, which may have another name for a known one. */
export function zoneChoices(present = 'UTC'): readonly (readonly [value: string, label: string])[] {
  const zones = KNOWN_ZONES.has(present) ? TIME_ZONES : [present, ...TIME_ZONES]
  return zones.map((zone) => [zone, zone.replaceAll('_', ' ')])
}

const cookieOptions = (publicPath: string) =>
  ({ path: `${publicPath}/app`, httpOnly: true, sameSite: 'lax', maxAge: 365 * 24 * 3600 }) as const

export function rememberAccount(request: FastifyRequest, reply: FastifyReply, id: number, publicPath: string): void {
  if (request.cookies[ACCOUNT_COOKIE] === String(id)) return
  reply.setCookie(ACCOUNT_COOKIE, String(id), cookieOptions(publicPath))
}

/** For a year, in this browser. `publicPath`: see `render`. */
export function setPreferences(
  reply: FastifyReply,
  { language, theme, zone }: PreferencesAnswer,
  publicPath: string,
): void {
  const options = cookieOptions(publicPath)
  const keep = (name: string, value: string | undefined, none: string) => {
    if (value === none) reply.clearCookie(name, options)
    else if (value !== undefined) reply.setCookie(name, value, options)
  }
  keep(LANGUAGE_COOKIE, language, '')
  keep(THEME_COOKIE, theme, 'auto')
  keep(ZONE_COOKIE, zone, 'account')
}
