import { LANGUAGES, type Language, preferredLanguage } from '@postrider/ui'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { PreferencesAnswer } from './answer.ts'

const THEMES = ['light', 'dark'] as const

/** Names of the cookies that keep a reader's choices. They decide nothing but looks. */
const LANGUAGE_COOKIE = 'language'
const THEME_COOKIE = 'theme'

/** The language that the visitor chose, else the one that Accept-Language prefers, else English. A request without a route has no cookies. */
export function languageOf({ cookies, headers }: FastifyRequest): Language {
  const chosen = LANGUAGES.find((language) => language === cookies?.[LANGUAGE_COOKIE])
  return chosen ?? preferredLanguage(headers['accept-language'], LANGUAGES)
}

/** "light" or "dark"; empty: as the system. */
export function themeOf({ cookies }: FastifyRequest): string {
  return THEMES.find((theme) => theme === cookies?.[THEME_COOKIE]) ?? ''
}

/** For a year, in this browser. `publicPath`: see `render`. */
export function setPreferences(reply: FastifyReply, { language, theme }: PreferencesAnswer, publicPath: string): void {
  const options = { path: `${publicPath}/app`, httpOnly: true, sameSite: 'lax', maxAge: 365 * 24 * 3600 } as const
  if (language !== undefined) reply.setCookie(LANGUAGE_COOKIE, language, options)
  if (theme === 'auto') reply.clearCookie(THEME_COOKIE, options)
  else if (theme !== undefined) reply.setCookie(THEME_COOKIE, theme, options)
}
