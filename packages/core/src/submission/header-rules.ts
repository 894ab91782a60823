/** RFC 5322 3.6.8: printable ASCII except colon. */
const FIELD_NAME = /^[!-9;-~]{1,76}$/

/** The common form of RFC 5322 3.6.4: two parts around "@" on one line that needs no folding. */
const MESSAGE_ID = /^<[!-;=?-~]{1,400}@[!-;=?-~]{1,400}>$/

/** Header fields that this service writes, or that change a message's sender, recipients or interpretation (V21). */
const RESERVED =
  /^(from|sender|to|cc|bcc|reply-to|subject|date|message-id|return-path|received|received-spf|delivered-to|apparently-to|dkim-signature|domainkey-signature|mime-version|content-.*|resent-.*|arc-.*|authentication-results|x-apiheader|x-tags|x-sg-.*|idempotency-key)$/i

/** Returns whether a submission may have a header field of this name, if the name is not reserved. */
export function isFieldName(name: string): boolean {
  return FIELD_NAME.test(name)
}

/** Returns whether a submission must not have a header field of this name. */
export function isReservedField(name: string): boolean {
  return RESERVED.test(name)
}

/** Returns whether a submission may have this message id, written with its angle brackets. */
export function isMessageId(text: string): boolean {
  return MESSAGE_ID.test(text)
}
