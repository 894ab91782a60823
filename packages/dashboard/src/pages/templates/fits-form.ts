import { FORM_LIMIT } from '../../frame/forms/parse-form.ts'
import type { TemplateTexts } from './template-kinds.ts'

/** Octets of the editor's fields in addition to the texts, and room for what is added to them. */
const ROOM = 64 * 1024
/** Octets of a form that an octet of a text takes: itself, "%3C", or for a line feed "%0D%0A" (URL standard 5.2, HTML 4.10.21.8). */
const [PLAIN, ESCAPED, LINE_END] = [1, 3, 6]
const WIDTHS = Uint8Array.from({ length: 256 }, (_, octet) => {
  const sign = String.fromCharCode(octet)
  if (sign === '\n') return LINE_END
  return 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789*-._ '.includes(sign) ? PLAIN : ESCAPED
})

const textsOf = ({ subject, html, plain, testData }: TemplateTexts) => [subject, html, plain, testData]

/** Octets of the texts of a version. */
export function octetsOf(texts: TemplateTexts): number {
  return textsOf(texts).reduce((sum, text) => sum + Buffer.byteLength(text), 0)
}

/** Whether the texts can be edited on a page: a form with larger ones is refused, and its input would be lost. */
export function fitsForm(texts: TemplateTexts): boolean {
  if (octetsOf(texts) + ROOM > FORM_LIMIT) return false
  return textsOf(texts).reduce((sum, text) => sum + encodedLength(text), ROOM) <= FORM_LIMIT
}

function encodedLength(text: string): number {
  const octets = Buffer.from(text)
  let length = 0
  for (let at = 0; at < octets.length; at++) length += WIDTHS[octets[at] as number] as number
  return length
}
