import { isBracketed } from '../mime/header.ts'
import { identityRuleOf } from './identity-fields.ts'

/** RFC 5322 3.6.8: printable ASCII except colon. */
const FIELD_NAME = /^[!-9;-~]{1,76}$/

/** The common form of RFC 5322 3.6.4: two parts around "@" on one line that needs no folding. */
const MESSAGE_ID = /^<[!-;=?-~]{1,400}@[!-;=?-~]{1,400}>$/

/** Header fields that this service writes, or that change a message's recipients or interpretation (V21); others name a sender (identity-fields.ts). */
const RESERVED =
  /^(from|to|cc|bcc|reply-to|subject|date|message-id|return-path|received|delivered-to|apparently-to|domainkey-signature|mime-version)$/i
const RESERVED_GROUPS = /^((content|resent|arc|x-sg)-.*|x-apiheader|x-tags|idempotency-key)$/i
/** RFC 3282 2: it says the language of the text, and is no part of how the text is written. */
const CONTENT_LANGUAGE = 'content-language'

const LIST_UNSUBSCRIBE = /^list-unsubscribe(-post)?$/i
/**
 * Its value is written as it is: mailbox providers do not find a URL in an encoded word, which RFC 2047 5 forbids in it. A run of characters that
 * cannot be folded must fit in a line (RFC 5322 2.1.1).
 */
const UNENCODED = /^[\x20-\x7e]*$/
const MAX_WORD = 900
const IN_BRACKETS = /(<[^<>]*>)/
const IDS = /^(?:in-reply-to|references)$/i
const NOT_FOLDABLE = 'must be in words of at most 900 characters'
const NOT_ENCODED = 'must be printable ASCII, without encoded words and in words of at most 900 characters'
const NO_IDS = 'must have its message ids in angle brackets and in printable ASCII, without encoded words'
const ENCODED_WORD = /=\?[\w-]{1,40}(?:\*[\w-]{0,40})?\?[bq]\?/i

/** Returns whether a field is one of List-Unsubscribe and List-Unsubscribe-Post. */
export function isListUnsubscribe(name: string): boolean {
  return LIST_UNSUBSCRIBE.test(name)
}

/** Returns whether the text contains an encoded word (RFC 2047 2), which most structured fields must not have. */
export function hasEncodedWord(text: string): boolean {
  return ENCODED_WORD.test(text)
}

/** Returns whether a field with this value can be folded at its blanks (RFC 5322 2.1.1). */
function hasShortWords(value: string): boolean {
  return value.split(' ').every(({ length }) => length <= MAX_WORD)
}

/**
 * Returns why a field of a submission cannot be written with this value, after its merge tags are filled in; undefined if it can. For fields of URLs and
 * ids, in which readers find nothing that is an encoded word (RFC 2047 5).
 */
export function valueProblem(name: string, value: string): string | undefined {
  if (isListUnsubscribe(name)) return isPlain(value) && hasShortWords(value) ? undefined : NOT_ENCODED
  if (IDS.test(name) && !hasPlainIds(value)) return NO_IDS
  return isBracketed(name) && !hasShortWords(value) ? NOT_FOLDABLE : undefined
}

/** Returns whether {@link valueProblem} may have one for a field of this name. */
export function isStrict(name: string): boolean {
  return isListUnsubscribe(name) || isBracketed(name)
}

/** Returns the value of a received field without the message ids that cannot be written; empty if no other is left. Those of other names stay. */
export function withoutUnwritableIds(name: string, value: string): string {
  if (!IDS.test(name) || hasPlainIds(value)) return value
  const kept = value.split(IN_BRACKETS).filter((part, at) => at % 2 === 1 && isPlain(part))
  return kept.join(' ')
}

function isPlain(text: string): boolean {
  return UNENCODED.test(text) && !hasEncodedWord(text)
}

/** An id beyond ASCII is refused, not left out: the mail would arrive outside of its conversation, and its sender would not know. */
function hasPlainIds(value: string): boolean {
  const parts = value.split(IN_BRACKETS)
  // RFC 5322 4.5.4: phrases beside ids, which have a form in encoded words.
  return isPlain(value) || (parts.length > 1 && parts.every((part, at) => at % 2 === 0 || isPlain(part)))
}

/** Returns whether a submission may have a header field of this name, if the name is not reserved. */
export function isFieldName(name: string): boolean {
  return FIELD_NAME.test(name)
}

/** Returns whether a submission must not have a header field of this name. */
export function isReservedField(name: string): boolean {
  const known = name.toLowerCase()
  if (known === CONTENT_LANGUAGE) return false
  return RESERVED.test(known) || RESERVED_GROUPS.test(known) || identityRuleOf(known) !== undefined
}

/** Returns whether a submission may have this message id, written with its angle brackets. */
export function isMessageId(text: string): boolean {
  return MESSAGE_ID.test(text)
}
