import { invalidParameter, ServiceError } from '../../platform/errors.ts'

/** Octets of one file, decoded (v2 contract section 4.2). */
export const ATTACHMENT_SIZE = 20_480_000
const LONGEST_NAME = 255
/** Characters that turn the reading direction, by which `exe.fdp` shows as `pdf.exe` (V27). */
const TURNS = /[\u202a-\u202e\u2066-\u2069]/

/** What the caller names the two parameters of a file. */
export interface FileParameters {
  readonly fileName: string
  readonly content: string
}

/** Throws parameterMissing and parameterInvalid. */
export function checkFile(
  { fileName, content }: { readonly fileName: string; readonly content: Buffer },
  parameters: FileParameters,
): void {
  const parameter = parameters.fileName
  if (fileName.trim() === '') throw new ServiceError('parameterMissing', { values: { parameter } })
  if (fileName.length > LONGEST_NAME) {
    throw invalidParameter(parameter, `must have at most ${LONGEST_NAME} characters`)
  }
  if (/\p{Cc}/u.test(fileName)) throw invalidParameter(parameter, 'must not contain control characters')
  if (!fileName.isWellFormed()) throw invalidParameter(parameter, 'is not well-formed Unicode')
  if (TURNS.test(fileName)) throw invalidParameter(parameter, 'must not contain bidirectional control characters')
  // RFC 2183 2.3: a path in it could lead a careless reader's program anywhere.
  if (/[/\\]/.test(fileName)) throw invalidParameter(parameter, 'must be a file name without a path')
  if (content.length > ATTACHMENT_SIZE) {
    throw invalidParameter(parameters.content, `must have at most ${ATTACHMENT_SIZE} bytes`)
  }
}
