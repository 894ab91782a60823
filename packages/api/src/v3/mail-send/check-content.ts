import { essenceOf, parseMediaType } from '@postrider/core'
import { isDynamic, isGiven, isLegacy } from './body.ts'
import type { Check } from './validation-errors.ts'

/** Rows 12 and 13. Whether the template has a subject is checked after it was loaded. */
export function checkSubject({ mail, errors }: Check): void {
  const { subject, personalizations, template_id: templateId } = mail
  if (isGiven(subject)) {
    if (typeof subject !== 'string' || subject === '') errors.add('subjectInvalid', 'subject')
    return
  }
  // For an empty body, the missing subject is not reported (2.4).
  if (!isGiven(personalizations) || personalizations.length === 0 || isGiven(templateId)) return
  if (!personalizations.every((one) => isGiven(one.subject))) errors.add('subjectMissing', 'subject')
}

/** Rows 32 to 36. */
export function checkContent({ mail, errors }: Check): void {
  const { content, template_id: templateId } = mail
  if (!isGiven(content) || content.length === 0) {
    if (!isGiven(templateId)) errors.add('contentMissing', 'content')
    return
  }
  for (const [at, { type, value }] of content.entries()) {
    if (typeof type !== 'string' || type === '') errors.add('contentTypeMissing', `content.${at}.type`)
    else if (/[\r\n]/.test(type)) errors.add('contentTypeInvalid', `content.${at}.type`)
    else if (hasCharset(type)) errors.add('contentTypeCharset', `content.${at}.type`)
    else if (!isOfText(type)) errors.add('contentTypeUnusable', `content.${at}.type`, { given: type })
    if (typeof value !== 'string' || value === '') errors.add('contentValueMissing', `content.${at}.value`)
  }
  if (!isInOrder(content.map(({ type }) => essenceOf(String(type))))) {
    errors.add('contentOrder', 'content')
  }
}

const RANKS: ReadonlyMap<string, number> = new Map([
  ['text/plain', 0],
  ['text/x-amp-html', 1],
  ['text/html', 2],
])

/** Whether a text can have this type; `html` is none. */
function isOfText(type: string): boolean {
  if (RANKS.has(essenceOf(type))) return true
  const essence = parseMediaType(type)?.essence
  return essence !== undefined && !/^(multipart|message)\//.test(essence)
}

/** Whether text comes first, then AMP, then HTML, then any other types, with text and HTML at most once. */
function isInOrder(types: readonly string[]): boolean {
  const ranks = types.map((type) => RANKS.get(type) ?? 3)
  const once = [0, 2].every((rank) => ranks.filter((one) => one === rank).length <= 1)
  const text = ranks.indexOf(0)
  const html = ranks.indexOf(2)
  return once && text <= 0 && (html === -1 || ranks.indexOf(3) === -1 || html < ranks.indexOf(3))
}

/**
 * Rows 34 and 49: parameters are accepted except charset, since every text is UTF-8 and a file keeps its own charset. The texts
 * of these rows blame the `;`, so they are used for line breaks only.
 */
export function hasCharset(type: string): boolean {
  return parseMediaType(type)?.parameters.has('charset') === true
}

/** Rows 27 to 30. */
export function checkTemplate({ mail, errors }: Check): void {
  const { template_id: templateId, personalizations } = mail
  const given = (personalizations ?? []).some((one) => Object.keys(one.dynamic_template_data ?? {}).length > 0)
  if (!isGiven(templateId)) {
    if (given) errors.add('dynamicWithoutTemplate', 'template_id')
  } else if (typeof templateId !== 'string') {
    errors.add('templateIdNotText', 'template_id', { given: JSON.stringify(templateId) })
  } else if (isLegacy(templateId)) {
    if (given) errors.add('dynamicWithLegacy', 'template_id')
  } else if (!isDynamic(templateId)) errors.add('templateIdInvalid', 'template_id', { given: templateId })
}
