import { isGiven, type RawAttachment } from './body.ts'
import { hasCharset } from './check-content.ts'
import type { Check, ValidationErrors } from './validation-errors.ts'

/** Rows 45 to 52. */
export function checkAttachments({ mail, errors }: Check): void {
  for (const [at, attachment] of (mail.attachments ?? []).entries()) {
    checkAttachment(attachment, `attachments.${at}`, errors)
  }
}

function checkAttachment(attachment: RawAttachment, place: string, errors: ValidationErrors): void {
  const { content, filename, type, disposition, content_id: contentId } = attachment
  if (typeof content !== 'string' || content === '') errors.add('fileContentMissing', `${place}.content`)
  else if (!isBase64(content)) errors.add('fileContentInvalid', `${place}.content`)

  if (!isGiven(filename) || filename === '') errors.add('fileNameMissing', `${place}.filename`)
  else if (typeof filename !== 'string') errors.add('fileNameNotText', `${place}.filename`)
  else if (/[;,\r\n]/.test(filename)) errors.add('fileNameInvalid', `${place}.filename`)

  if (isGiven(type)) {
    if (typeof type !== 'string' || type === '') errors.add('fileTypeMissing', `${place}.type`)
    else if (/[\r\n]/.test(type)) errors.add('fileTypeInvalid', `${place}.type`)
    else if (hasCharset(type)) errors.add('fileTypeCharset', `${place}.type`)
  }
  if (isGiven(disposition) && disposition !== 'inline' && disposition !== 'attachment') {
    errors.add('dispositionInvalid', `${place}.disposition`, { given: JSON.stringify(disposition) })
  }
  if (!isGiven(contentId) || contentId === '') {
    if (disposition === 'inline') errors.add('contentIdMissing', `${place}.content_id`)
  } else if (typeof contentId !== 'string') errors.add('contentIdNotText', `${place}.content_id`)
  else if (/[;,\r\n]/.test(contentId)) errors.add('contentIdInvalid', `${place}.content_id`)
}

/** RFC 4648 4, complete and without line breaks (section 13: as strict as the original API). */
function isBase64(text: string): boolean {
  return text.length % 4 === 0 && /^[A-Za-z0-9+/]*={0,2}$/.test(text)
}
