import {
  type BounceClass,
  bounceClass,
  classAt,
  HARD_CLASSES,
  type Said,
} from '../../delivery/outcomes/bounce-rules.ts'
import type { Stage } from '../../delivery/outcomes/outcome.ts'
import type { Action, ReportedRecipient } from './return-reading.ts'
import { type FoundReply, oneLine, replyIn } from './smtp-reply.ts'

/** The statement of a report about one recipient. */
export interface RecipientStatus {
  readonly recipient: string
  readonly action: Action
  /** From a field of its own; empty if there is none. */
  readonly status: string
  readonly text: string
  readonly stage: Stage | undefined
}

/**
 * Words of servers about their own attempts, which are in their reports and not in replies: Exim, Domino, Exchange, Yahoo, OpenSMTPD,
 * qmail, DragonFly, Verizon and Dovecot.
 */
const OWN_WORDS: readonly { readonly class: BounceClass; readonly text: RegExp }[] = [
  {
    class: 'bad-domain',
    text: /\bMX records point to non-existent hosts\b|\bunrouteable mail domain\b|\bhost address lookups failed permanently\b|\bDNS lookup failure: host\b|\binvalid domain name\b|\bfind any host named\b|\bunknown host or domain\b|\bresponded with code NXDOMAIN\b|\bdomain does ?n.t exist\b|\bdomain does not exist\b/i,
  },
  {
    class: 'not-accepting',
    text: /\bindicated no SMTP service\b|\bno mx record found for domain\b|\bseems? to reject all mails\b/i,
  },
  {
    class: 'bad-mailbox',
    text: /\bnot listed in (the )?(Domino Directory|public name)|ディレクトリのリストにありません|\brecipient name is not recognized\b|\bno valid recipients for this MM\b/i,
  },
  {
    class: 'mailbox-full',
    text: /\bmail ?folder is full\b|\bexceeded the local limit\b|\bexceeds allowed size\b|\bnot enough disk (space|quota)\b/i,
  },
  { class: 'network', text: /\bcould not find a gateway\b/i },
  {
    class: 'expired',
    text: /\benvelope expired\b|\bnot deliver for the last\b|\bmultiple retries, giving up\b|\bin the queue too long\b|\bnot delivered within\b|\bretry time(out)? exceeded\b/i,
  },
]
/** Codes that name a detail, unlike `5.0.0`. */
const IS_GENERAL = /^$|^[245]\.0\.0$/

/** Classes without a reason, which the text for people may name. */
const VAGUE: ReadonlySet<BounceClass> = new Set(['other', 'protocol', 'system'])

/**
 * As {@link verdictOf}, of the fields and of what the text for people says about the recipient. Fields that give no reason are completed by it, and
 * a mailbox that it calls full exists, whatever the fields say.
 */
export function completedVerdict(
  fields: RecipientStatus,
  told: RecipientStatus | undefined,
  returnPath: string,
): ReportedRecipient {
  const verdict = verdictOf(fields, returnPath)
  if (!told || told.text === fields.text) return verdict
  // Not by the code of the fields, unless it is one of a failure for now.
  const status = fields.status.startsWith('4') ? fields.status : ''
  const other = verdictOf({ ...fields, status, text: told.text, stage: told.stage ?? fields.stage }, returnPath)
  const isVague = VAGUE.has(verdict.class) && Math.floor(verdict.code / 100) !== 4
  const saysMore = other.class === 'mailbox-full' ? verdict.hard : isVague && !VAGUE.has(other.class)
  return saysMore ? { ...other, status: other.status || verdict.status } : verdict
}

/**
 * Classifies what a report says about a recipient. `returnPath` is the address that the report was sent to. Only a permanent failure
 * of the address is hard; whatever is in doubt is soft, because a hard bounce suppresses the recipient.
 */
export function verdictOf(recipientStatus: RecipientStatus, returnPath: string): ReportedRecipient {
  const reply = replyIn(oneLine(recipientStatus.text))
  const status = finestOf(reply.enhanced, recipientStatus.status, reply.mentioned)
  const parties = { sender: returnPath, recipient: recipientStatus.recipient || '\0' }
  const of = classOf(status, reply, { stage: recipientStatus.stage, parties })
  const isPermanent =
    recipientStatus.action === 'failed' && !status.startsWith('4') && Math.floor(reply.code / 100) !== 4
  return {
    recipient: recipientStatus.recipient,
    action: recipientStatus.action,
    status,
    code: reply.code,
    text: reply.text,
    class: of,
    hard: isPermanent && HARD_CLASSES.includes(of),
  }
}

function classOf(status: string, { code, text }: FoundReply, how: Said): BounceClass {
  const found = bounceClass(status, text, how)
  if (found !== 'other' || code !== 0) return found
  return classAt(how.stage, OWN_WORDS.find((words) => words.text.test(text))?.class ?? found)
}

/** The first code that names a detail. That of the reply is the server's own; the field may be a translation of the reply code. */
function finestOf(...codes: readonly string[]): string {
  return codes.find((code) => !IS_GENERAL.test(code)) ?? codes.find((code) => code !== '') ?? ''
}
