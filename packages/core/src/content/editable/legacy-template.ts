/** The texts of a message or of a legacy template; each may be missing. */
export interface LegacyTexts {
  readonly subject?: string | undefined
  readonly html?: string | undefined
  readonly text?: string | undefined
}

const BODY = '<%body%>'
const SUBJECT = '<%subject%>'

/**
 * Puts a message into a legacy template (v3 contract 2.8): its HTML and its plain text where the template says `<%body%>`, its
 * subject where the template's subject says `<%subject%>`. A message of one kind of body drops the template's part of the other
 * kind; a message without content takes the template as it is. Where the template has no subject the message's counts, and so
 * does its body where the template has no part of that kind.
 */
export function fillLegacyTemplate(template: LegacyTexts, message: LegacyTexts): LegacyTexts {
  const subject = template.subject ? put(template.subject, SUBJECT, message.subject ?? '') : message.subject
  const onlyText = message.html === undefined && message.text !== undefined
  const onlyHtml = message.text === undefined && message.html !== undefined
  // A template whose plain text holds no body can stand beside any HTML.
  const dropsText = onlyHtml && (template.text ?? '').includes(BODY)
  const html = onlyText ? undefined : part(template.html, message.html)
  const text = dropsText ? undefined : part(template.text, message.text)
  return { subject, html: html || undefined, text: text || undefined }
}

function part(template: string | undefined, body: string | undefined): string | undefined {
  return template ? put(template, BODY, body ?? '') : body
}

function put(text: string, tag: string, value: string): string {
  return text.split(tag).join(value)
}
