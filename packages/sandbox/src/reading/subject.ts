import { simpleParser } from 'mailparser'
import { readBeginning } from './read-beginning.ts'
import { readableMessage } from './readable-message.ts'

/** mailparser reads no more than 1 MiB of header. */
const MAX_HEADER_BYTES = 1024 * 1024 + 1
/** Maximum line length of RFC 5322. The list holds 10,000 subjects, so longer ones are truncated. */
const MAX_LENGTH = 998

/** Parses only the header: parsing a whole message takes half a millisecond or more. */
export async function readSubject(file: string): Promise<string> {
  const beginning = readBeginning(file, MAX_HEADER_BYTES)
  const end = beginning.indexOf('\r\n\r\n')
  const header = end === -1 ? beginning : beginning.subarray(0, end + 4)
  const parsed = await simpleParser(readableMessage(header)).catch(() => undefined)
  return (parsed?.subject ?? '').slice(0, MAX_LENGTH)
}
