import { isGiven, type RawAttachment } from './body.ts'
import { hasCharset } from './check-content.ts'
import type { Check, ValidationErrors } from './complaints.ts'

/** Rows 45 to 52. */
export function checkAttachments({ mail, complaints }: Check): void {
  for (const [at, attachment] of (mail.attachments ?? []).entries()) {
    checkAttachment(attachment, `attachments.${at}`, complaints)
  }
}

function checkAttachment(attachment: RawAttachment, place: string, complaints: ValidationErrors): void {
  const { content, filename, type, disposition, content_id: contentId } = attachment
  if (typeof content !== 'string' || content === '') complaints.add('fileContentMissing', `${place}.content`)
  else if (!isBase64(content)) complaints.add('fileContentInvalid', `${place}.content`)

  if (!isGiven(filename) || filename === '') complaints.add('fileNameMissing', `${place}.filename`)
  else if (typeof filename !== 'string') complaints.add('fileNameNotText', `${place}.filename`)
  else if (/[;,\r\n]/.test(filename)) complaints.add('fileNameInvalid', `${place}.filename`)

  if (isGiven(type)) {
    if (typeof type !== 'string' || type === '') complaints.add('fileTypeMissing', `${place}.type`)
    else if (/[\r\n]/.test(type)) complaints.add('fileTypeInvalid', `${place}.type`)
    else if (hasCharset(type)) complaints.add('fileTypeCharset', `${place}.type`)
  }
  if (isGiven(disposition) && disposition !== 'inline' && disposition !== 'attachment') {
    complaints.add('dispositionInvalid', `${place}.disposition`, { given: JSON.stringify(disposition) })
  }
  if (!isGiven(contentId) || contentId === '') {
    if (disposition === 'inline') complaints.add('contentIdMissing', `${place}.content_id`)
  } else if (typeof contentId !== 'string') complaints.add('contentIdNotText', `${place}.content_id`)
  else if (/[;,\r\n]/.test(contentId)) complaints.add('contentIdInvalid', `${place}.content_id`)
}

/** RFC 4648 4, complete and without line breaks (section 13: as strict as the original API). */
function isBase64(text: string): boolean {
  return text.length % 4 === 0 && /^[A-Za-z0-9+/]*={0,2}$/.test(text)
}
