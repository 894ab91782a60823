import { invalidParameter, type MessageSettings, readDeadline } from '@postrider/core'
import type { RawMail } from './body.ts'

/** Headers with the class and the deadline of a message, which v3 has no fields for. They are removed. */
export const URGENCY_HEADERS: readonly string[] = ['x-pr-class', 'x-pr-deadline']

/** Returns the class and deadline of a message from its headers. Throws parameterInvalid if a personalization has its own. */
export function urgencyOf({ headers, personalizations }: RawMail): Pick<MessageSettings, 'class' | 'deadline'> {
  for (const [at, one] of (personalizations ?? []).entries()) {
    const own = Object.keys(one.headers ?? {}).find((name) => URGENCY_HEADERS.includes(name.toLowerCase()))
    if (own === undefined) continue
    throw invalidParameter(`personalizations.${at}.headers.${own}`, 'applies to the whole message: put it in headers')
  }
  const given = new Map(
    Object.entries(headers ?? {}).map(([name, value]) => [name.toLowerCase(), String(value).trim()]),
  )
  const of = given.get('x-pr-class')?.toLowerCase()
  const deadline = readDeadline(given.get('x-pr-deadline'))
  return {
    ...(of ? { class: of } : {}),
    ...(deadline === undefined ? {} : { deadline }),
  }
}
