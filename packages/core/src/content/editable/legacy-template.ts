/** The texts of a message or of a legacy template; each may be missing. */
export interface LegacyTexts {
  readonly subject?: string | undefined
  readonly html?: string | undefined
  readonly text?: string | undefined
}

const BODY = '<%body%>'
const SUBJECT = '<%subject%>'

/**
 * Merges a message into a legacy template (v3 contract 2.8): its HTML and plain text replace `<%body%>`, its subject
 * replaces `<%subject%>` in the template's subject. If the message has only one kind of body, the template's part of
 * the other kind is dropped; if the message has no content, the template is used as it is. If the template has no
 * subject, the message's subject is used; likewise for a body part that the template does not have.
 */
export function fillLegacyTemplate(template: LegacyTexts, message: LegacyTexts): LegacyTexts {
  const subject = template.subject ? put(template.subject, SUBJECT, message.subject ?? '') : message.subject
  const onlyText = message.html === undefined && message.text !== undefined
  const onlyHtml = message.text === undefined && message.html !== undefined
  // Plain text of a template without `<%body%>` is independent of the message, so it is kept with any HTML.
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
