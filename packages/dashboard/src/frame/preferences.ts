import { LANGUAGES, type Language } from '@postrider/ui'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { PreferencesAnswer } from './answer.ts'

const THEMES = ['light', 'dark'] as const

/** Names of the cookies that keep a reader's choices. They decide nothing but looks. */
const LANGUAGE_COOKIE = 'language'
const THEME_COOKIE = 'theme'

/** The language that the visitor chose, else the first of Accept-Language that there is (RFC 9110 12.5.4), else English. A request without a route has no cookies. */
export function languageOf({ cookies, headers }: FastifyRequest): Language {
  const chosen = LANGUAGES.find((language) => language === cookies?.[LANGUAGE_COOKIE])
  if (chosen) return chosen
  const wanted = (headers['accept-language'] ?? '').slice(0, 200).toLowerCase().split(',')
  for (const entry of wanted) {
    const found = LANGUAGES.find((language) => entry.trim().startsWith(language))
    if (found) return found
  }
  return 'en'
}

/** "light" or "dark"; empty: as the system. */
export function themeOf({ cookies }: FastifyRequest): string {
  return THEMES.find((theme) => theme === cookies?.[THEME_COOKIE]) ?? ''
}

/** For a year, in this browser. */
export function setPreferences(reply: FastifyReply, { language, theme }: PreferencesAnswer): void {
  const options = { path: '/app', httpOnly: true, sameSite: 'lax', maxAge: 365 * 24 * 3600 } as const
  if (language !== undefined) reply.setCookie(LANGUAGE_COOKIE, language, options)
  if (theme === 'auto') reply.clearCookie(THEME_COOKIE, options)
  else if (theme !== undefined) reply.setCookie(THEME_COOKIE, theme, options)
}
