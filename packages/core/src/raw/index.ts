/*
 * MIME messages as clients submit them, over SMTP and HTTP: one check, one set of corrections, one reading of the fields that control the service.
 */

export { domainOfSender } from './envelope-sender.ts'
export { splitHeader } from './header.ts'
export { type CheckedMessage, MessageCheck } from './message-check.ts'
export { followSmtpApi } from './smtpapi/follow-smtpapi.ts'
export { unknownTo } from './smtpapi/smtpapi-lookups.ts'
export { nameOf } from './submission-names.ts'
export { submitRaw } from './submit.ts'
export type { RawEntry } from './to-submission.ts'
export { checkWhole, type Envelope, envelopeIn, messageTooLarge, recipientsAtMost } from './whole-message.ts'
