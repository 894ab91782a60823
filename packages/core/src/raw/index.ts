/*
 * MIME messages as clients submit them, over SMTP and HTTP: one check, one set of corrections, one reading of the fields that control the service.
 */

export { domainOfSender, type EnvelopeLookups } from './envelope-sender.ts'
export { splitHeader } from './header.ts'
export { type CheckedMessage, MessageCheck } from './message-check.ts'
export type { SmtpApiProblem } from './smtpapi/smtpapi-values.ts'
export { nameOf } from './submission-names.ts'
export { type RawAcceptance, type RawDependencies, type RawMessage, submitRaw } from './submit.ts'
export type { RawEntry, Trace } from './to-submission.ts'
export { checkWhole, type Envelope, envelopeIn, recipientsAtMost } from './whole-message.ts'
