import { simpleParser } from 'mailparser'
import { readBeginning } from './read-beginning.ts'

/** Mailparser reads no header beyond 1 MiB. */
const LONGEST_HEADER = 1024 * 1024 + 1
/** The longest line of RFC 5322. The list holds 10,000 subjects, so a longer one is cut. */
const LONGEST = 998

/** Only the header is parsed: reading a whole message costs half a millisecond and more. */
export async function readSubject(file: string): Promise<string> {
  const beginning = readBeginning(file, LONGEST_HEADER)
  const end = beginning.indexOf('\r\n\r\n')
  const parsed = await simpleParser(end === -1 ? beginning : beginning.subarray(0, end + 4)).catch(() => undefined)
  return (parsed?.subject ?? '').slice(0, LONGEST)
}
