import { invalidParameter, ServiceError } from '../../platform/errors.ts'

/** Maximum bytes of one decoded file (v2 contract section 4.2). */
export const ATTACHMENT_SIZE = 20_480_000
const MAX_NAME_LENGTH = 255
/** Characters that change the writing direction: with them, `exe.fdp` is displayed as `pdf.exe` (V27). */
const DIRECTION_CONTROLS = /[\u202a-\u202e\u2066-\u2069]/

/** The caller's names of the two parameters of a file. */
export interface FileParameters {
  readonly fileName: string
  readonly content: string
}

/** Throws parameterMissing or parameterInvalid. */
export function checkFile(
  { fileName, content }: { readonly fileName: string; readonly content: Buffer },
  parameters: FileParameters,
): void {
  const parameter = parameters.fileName
  if (fileName.trim() === '') throw new ServiceError('parameterMissing', { values: { parameter } })
  if (fileName.length > MAX_NAME_LENGTH) {
    throw invalidParameter(parameter, `must have at most ${MAX_NAME_LENGTH} characters`)
  }
  if (/\p{Cc}/u.test(fileName)) throw invalidParameter(parameter, 'must not contain control characters')
  if (!fileName.isWellFormed()) throw invalidParameter(parameter, 'is not well-formed Unicode')
  if (DIRECTION_CONTROLS.test(fileName))
    throw invalidParameter(parameter, 'must not contain bidirectional control characters')
  // RFC 2183 2.3: a path in the name could make a mail program write outside its directory.
  if (/[/\\]/.test(fileName)) throw invalidParameter(parameter, 'must be a file name without a path')
  if (content.length > ATTACHMENT_SIZE) {
    throw invalidParameter(parameters.content, `must have at most ${ATTACHMENT_SIZE} bytes`)
  }
}

/** Returns the last element of a path, in a form that {@link checkFile} accepts: shortened, without control characters. */
export function validFileName(written: string | undefined): string {
  const last = (written ?? '').replace(/^.*[/\\]/s, '')
  const bare = last
    .replace(/\p{Cc}/gu, '')
    .split(DIRECTION_CONTROLS)
    .join('')
  return bare.toWellFormed().slice(-MAX_NAME_LENGTH).trim() || 'attachment'
}
