import type { Principal } from '../accounts/keys/api-key.ts'
import type { Acceptance, Messages } from '../messages/index.ts'
import type { Clock } from '../platform/clock.ts'
import type { StatusNotifications } from '../submission/status-notifications.ts'
import { domainOfBounce, type EnvelopeLookups } from './envelope-sender.ts'
import type { CheckedMessage } from './message-check.ts'
import { type LookupSources, unknownTo } from './smtpapi/smtpapi-lookups.ts'
import { type NoticeLog, notifySender } from './smtpapi/smtpapi-notice.ts'
import type { SmtpApiProblem } from './smtpapi/smtpapi-values.ts'
import { type RawEntry, type Trace, toSubmission } from './to-submission.ts'

export interface RawDependencies extends EnvelopeLookups, LookupSources {
  readonly messages: Messages
  readonly clock: Clock
}

/** A MIME message with its envelope. */
export interface RawMessage extends CheckedMessage {
  readonly entry: RawEntry
  /** An address, or empty for the null sender; one that is not valid is that of From, which the rules refuse. */
  readonly sender: string
  readonly recipients: readonly string[]
  readonly principal: Principal
  readonly notifications?: StatusNotifications | undefined
  readonly trace: Trace
  /** Reserves the message's size a second time, for its parts. Throws overloaded. */
  readonly hold: () => void
}

export interface RawAcceptance extends Acceptance {
  /** The corrections made in the message, in words; undefined if there are none. */
  readonly corrected?: string | undefined
  /** Why nothing is sent although the message was accepted; empty if it is sent. */
  readonly problems: readonly SmtpApiProblem[]
}

/**
 * Accepts a MIME message, however it came. Throws messageMalformed, mailLoop, parameterInvalid, parameterMissing, overloaded and the errors of accept.
 */
export async function submitRaw(core: RawDependencies, log: NoticeLog, raw: RawMessage): Promise<RawAcceptance> {
  const { pieces, lastLongLine, hasOddParts, sender, recipients, principal, notifications, trace, hold, entry } = raw
  const { messages } = core
  const accountId = principal.account.id
  const nullSender = sender === ''
  const parsed = await toSubmission({
    entry,
    pieces,
    lastLongLine,
    hasOddParts,
    recipients,
    nullSender,
    senderDomain: nullSender ? await domainOfBounce(core, principal, recipients) : domainIn(sender),
    principal,
    notifications,
    trace,
    now: new Date(core.clock.now()),
    hold,
    readParts: (message) => messages.readParts(message, accountId),
    conformBody: (message) => messages.conformBody(message, accountId, { sevenBit: false }),
    senderInstead: (from) => messages.senderInstead({ principal, from, nullSender, recipients }),
    findForeign: (fields) => messages.foreignFields({ principal, fields, nullSender }),
    verifySignatures: (pieces, signatures) => messages.verifySignatures({ pieces, signatures, accountId }),
    unknown: (api) => unknownTo(core, accountId, api),
  })
  const acceptance = await messages.accept(parsed.submission)
  await notifySender({ messages, log }, { ...parsed, messageId: acceptance.messageId, to: sender })
  return { ...acceptance, corrected: parsed.corrected, problems: parsed.problems }
}

function domainIn(address: string): string | undefined {
  const at = address.lastIndexOf('@')
  return at === -1 ? undefined : address.slice(at + 1)
}
