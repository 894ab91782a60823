import { headerFields } from '../mime/header-fields.ts'
import { isListUnsubscribe } from './header-rules.ts'
import type { Submission } from './submission.ts'

const POST_FIELD = 'list-unsubscribe-post'
const POST = 'list-unsubscribe=one-click'
/** A merge tag may stand for the URL, as `[%unsubscribe%]` does. */
const URL_OR_TAG = /<\s*https:|\[%/i

/**
 * Returns whether the fields List-Unsubscribe and List-Unsubscribe-Post that the sender has set are one-click unsubscription (RFC 8058 3.1) in each
 * copy that has one of them; undefined if none has, or only some. With one of them in a copy, this service adds none to it.
 */
export function ownOneClick({ content, envelopes }: Submission, isMime: boolean): boolean | undefined {
  if (isMime && content.kind === 'mime') return isOneClick(listFields(headOf(content.pieces)))
  const shared = content.kind === 'parts' ? Object.entries(content.headers ?? {}) : []
  const found = new Set<boolean | undefined>()
  for (const { headers } of envelopes) {
    // Of the same name, the one of the envelope counts.
    const own = [...shared, ...Object.entries(headers)].filter(([name]) => isListUnsubscribe(name))
    found.add(isOneClick(new Map(own.map(([name, value]) => [name.toLowerCase(), value]))))
  }
  if (found.has(false)) return false
  return found.has(undefined) ? undefined : true
}

/** The settings of a stored message. `oneClick` is set if it is bulk mail with such fields of its own. */
interface StoredSettings {
  readonly oneClick?: boolean
  readonly unsubscribe?: boolean
}

/** Whether a bulk message has one-click unsubscription: fields of its own, or links that are added to it. */
export function hasOneClick({ oneClick, unsubscribe }: StoredSettings): boolean {
  return oneClick ?? unsubscribe === true
}

function isOneClick(fields: ReadonlyMap<string, string>): boolean | undefined {
  if (fields.size === 0) return undefined
  const post = fields.get(POST_FIELD)?.trim().toLowerCase()
  return post === POST && URL_OR_TAG.test(fields.get('list-unsubscribe') ?? '')
}

function listFields(head: Buffer): Map<string, string> {
  const fields = headerFields(head)
  return new Map(
    ['list-unsubscribe', POST_FIELD].flatMap((name): [string, string][] => {
      const value = fields.get(name)
      return value === undefined ? [] : [[name, value]]
    }),
  )
}

/** Octets of a header, which the relay limits more. */
const MAX_HEAD = 1024 * 1024

/** The header of a message, whose pieces are split anywhere. It usually is in the first. */
function headOf(pieces: readonly Buffer[]): Buffer {
  const [first = Buffer.alloc(0)] = pieces
  const end = first.indexOf('\r\n\r\n')
  if (end !== -1) return first.subarray(0, end)
  let length = 0
  const whole = Buffer.concat(pieces.filter((piece) => (length += piece.length) - piece.length < MAX_HEAD))
  const found = whole.indexOf('\r\n\r\n')
  return whole.subarray(0, found === -1 ? whole.length : found)
}
