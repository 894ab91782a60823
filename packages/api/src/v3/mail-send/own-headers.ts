import { invalidParameter, type MessageSettings, readDeadline } from '@postrider/core'
import type { RawMail } from './body.ts'

/** Headers with the class, the deadline and the TLS level of a message, which v3 has no fields for. They are removed. */
export const SETTING_HEADERS: readonly string[] = ['x-pr-class', 'x-pr-deadline', 'x-pr-tls']

/** Returns the settings of a message from its headers. Throws parameterInvalid if a personalization has its own. */
export function headerSettingsOf({
  headers,
  personalizations,
}: RawMail): Pick<MessageSettings, 'class' | 'deadline' | 'tls'> {
  for (const [at, one] of (personalizations ?? []).entries()) {
    const own = Object.keys(one.headers ?? {}).find((name) => SETTING_HEADERS.includes(name.toLowerCase()))
    if (own === undefined) continue
    throw invalidParameter(`personalizations.${at}.headers.${own}`, 'applies to the whole message: put it in headers')
  }
  const given = new Map(
    Object.entries(headers ?? {}).map(([name, value]) => [name.toLowerCase(), String(value).trim()]),
  )
  const of = given.get('x-pr-class')?.toLowerCase()
  const deadline = readDeadline(given.get('x-pr-deadline'))
  const tls = given.get('x-pr-tls')?.toLowerCase()
  return {
    ...(of ? { class: of } : {}),
    ...(deadline === undefined ? {} : { deadline }),
    ...(tls ? { tls } : {}),
  }
}
