import { partsOfDestination } from '../../delivery/limits/destination-names.ts'
import { OPERATOR_RULE, type Pause, REFUSED_RULE } from '../../delivery/limits/overrides.ts'
import type { HoldReason } from '../../delivery/queue/account-holds.ts'
import type { Ahead } from '../../delivery/queue/line.ts'
import { smartHostOf } from '../../delivery/sources/smart-hosts.ts'
import { type TlsLevel, tlsOriginText } from '../../delivery/tls/levels.ts'
import type { DeliveryRow, LateBounce, WhyAttempt } from './rows.ts'

/** The sentences that explain to a sender what a delivery waits for. */

/** Length to which replies are shortened in sentences; they are complete in the attempts. */
const MAX_REPLY = 200

export const NO_WORKER = 'No delivery worker is running. It is tried as soon as one is.'
export const NONE_AHEAD: Ahead = { count: 0, isMinimum: false }
export const WORKER_DIED =
  'The worker that was trying to deliver it has stopped. Another one takes it over within a minute.'

/** The time in UTC, with its date unless that is today's. */
function at(time: Date, now: Date): string {
  const [date = '', clock = ''] = time.toISOString().split('T')
  const minute = `${clock.slice(0, 5)} UTC`
  return date === now.toISOString().slice(0, 10) ? minute : `${date} ${minute}`
}

/** The reply of the server, or the report of this service. */
function replyOf({ code, enhanced, reply }: WhyAttempt): string {
  const text = [code, enhanced, reply].filter((part) => part !== null && part !== '').join(' ')
  return shortened(text)
}

function shortened(text: string): string {
  return text.length > MAX_REPLY ? `${text.slice(0, MAX_REPLY)}…` : text
}

const LEVELS: Readonly<Record<TlsLevel, string>> = {
  opportunistic: 'no TLS',
  required: 'TLS',
  verified: 'TLS with a valid certificate',
  sts: 'TLS with a valid certificate at a listed host',
  dane: 'TLS with a certificate that matches TLSA records',
}

/** An additional sentence if the attempt failed because of the TLS that was demanded; otherwise empty. */
function demandOf({ tlsPolicy, tlsOrigin, enhanced, code }: WhyAttempt): string {
  const isTls = code === null && (enhanced === '4.7.4' || enhanced === '4.7.5')
  if (!isTls || tlsPolicy === null || tlsOrigin === null) return ''
  return ` ${LEVELS[tlsPolicy]} is demanded by ${tlsOriginText(tlsOrigin)}.`
}

/** A site has the names of its hosts, a provider has one without a dot. */
function destinationText(destination: string): string {
  const { base, source } = partsOfDestination(destination)
  const smartHost = smartHostOf(base)
  if (smartHost !== undefined) return `the smart host ${smartHost}`
  const hosts = base.includes('.') ? `the mail servers ${base}` : `the provider ${base}`
  return source === undefined ? hosts : `${hosts} from the source address ${source}`
}

function capitalized(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1)
}

function aheadText({ count, isMinimum }: Ahead): string {
  if (count === 0) return 'It is the next one of its kind.'
  return `${isMinimum ? 'At least ' : ''}${count} ${count === 1 ? 'delivery is' : 'deliveries are'} ahead of it.`
}

/** An additional sentence if the delivery expires before the time; otherwise empty. */
export function expiresBefore(expiresAt: Date | null, nextAt: Date | null, now: Date): string {
  return expiresAt && nextAt && expiresAt < nextAt ? ` It expires before that, at ${at(expiresAt, now)}.` : ''
}

export function finished(
  { state, reason, finishedAt }: DeliveryRow,
  last: WhyAttempt | undefined,
  {
    now,
    late,
    problem,
  }: { readonly now: Date; readonly late: LateBounce | undefined; readonly problem: string | undefined },
): string {
  const when = finishedAt ? at(finishedAt, now) : 'an unknown time'
  const reply = last ? `: ${replyOf(last)}` : ''
  const demand = last ? demandOf(last) : ''
  switch (state) {
    case 'delivered':
      return `Delivered at ${when}: ${last?.host ?? 'the server'} accepted it${reply}${late ? `. ${lateText(late, now)}` : ''}`
    case 'bounced':
      return `Bounced at ${when}${last?.host ? `: ${last.host} rejected it permanently` : ''}${reply}`
    case 'expired':
      return `Expired at ${when}: it could not be delivered before its deadline${last ? `. The last attempt${reply}${demand && `.${demand}`}` : ''}`
    default:
      return `Dropped at ${when} without being sent${reason === null ? '' : `: ${dropReason(reason, problem)}`}`
  }
}

/** A reason that has no words is shown as it is. */
function dropReason(reason: string, problem: string | undefined): string {
  const words = DROP_REASONS[reason] ?? reason
  return problem === undefined ? words : `${words}: ${shortened(problem)}`
}

const DROP_REASONS: Readonly<Record<string, string>> = {
  unsubscribe: 'the recipient unsubscribed',
  hardbounce: 'suppressed after a bounce',
  abuse: 'suppressed after a complaint',
  manual: 'suppressed by hand',
  global: 'suppressed by the operator',
  invalid: 'the address is invalid',
  forgotten: 'the recipient was erased',
  cancelled: 'cancelled',
  operator: 'cancelled by the operator',
  instructions: 'its X-SMTPAPI header is invalid',
  template: 'its template does not exist or has no active version',
  rendering: 'its template could not be rendered',
  'domain-lost': 'the account no longer has the sending domain',
}

function lateText({ occurredAt, detail }: LateBounce, now: Date): string {
  // In a report the reply has its codes.
  const said = shortened(detail.reply ?? '')
  return `It was reported as undeliverable at ${at(occurredAt, now)}${said === '' ? '' : `: ${said}`}`
}

export function setAside(reason: string | null): string {
  return `It is set aside until the operator releases it: ${reason ?? 'unknown reason'}.`
}

export function batchPaused(batch: string | undefined): string {
  return `Its batch${batch === undefined ? '' : ` ${batch}`} is paused. It is sent after the batch is resumed, not before its scheduled time.`
}

export function scheduled(nextAt: Date, now: Date): string {
  return `It is scheduled for ${at(nextAt, now)}.`
}

export function sending({ isSent, since, now }: { isSent: boolean; since: Date; now: Date }): string {
  return isSent
    ? `The message was sent at ${at(since, now)}, and the server's reply is awaited.`
    : 'A worker is trying to deliver it.'
}

export function released(nextAt: Date, now: Date): string {
  return `A worker returned it to the queue. It is tried at ${at(nextAt, now)}.`
}

export function dueNow(dueAt: Date | null, now: Date): string {
  return `It has been due since ${at(dueAt ?? now, now)} and is tried next.`
}

export function fairShare(ahead: Ahead): string {
  return `It is due. ${aheadText(ahead)} Workers share their capacity between the mail of all accounts.`
}

export function pauseEnded(destination: string, ahead: Ahead): string {
  return `The pause of ${destinationText(destination)} has ended. ${aheadText(ahead)}`
}

export function paused(
  { rule, accountId, since, until, isProbed }: Pause,
  { place, reply, now }: { place: string; reply: string | undefined; now: Date },
): string {
  const whose = accountId === null ? 'delivery' : "delivery of this account's mail"
  const refused = accountId === null ? 'refused mail of this service' : "refused this account's mail"
  const did = rule === REFUSED_RULE ? refused : 'requested less mail'
  const cause =
    rule === OPERATOR_RULE
      ? `The operator paused ${whose} to ${destinationText(place)} at ${at(since, now)}, until ${at(until, now)}.`
      : `${capitalized(destinationText(place))} ${did} (rule ${rule}, since ${at(since, now)}): ${whose} there is paused until ${at(until, now)}.`
  // What `refused` has counted precedes the reply.
  const label = rule === OPERATOR_RULE || rule === REFUSED_RULE ? 'Reason' : 'Reply'
  const said = reply === undefined || reply === '' ? '' : ` ${label}: ${shortened(reply)}`
  const often = rule === REFUSED_RULE ? 'from time to time' : 'every five minutes'
  return `${cause}${isProbed ? ` One delivery is tried ${often}.` : ''}${said}`
}

export function rate(destination: string, ahead: Ahead): string {
  return `The rate that ${destinationText(destination)} allows is used up. ${aheadText(ahead)}`
}

export function connections(destination: string, ahead: Ahead): string {
  return `All connections that ${destinationText(destination)} allows are in use. ${aheadText(ahead)}`
}

export function handedOver(destination: string): string {
  return `A worker that has the source address ${partsOfDestination(destination).source} delivers it next.`
}

export function sourcePaused(source: string, reason: string | null): string {
  const why = reason === null ? '' : ` Reason: ${shortened(reason)}`
  return `The source address ${source} is paused, and no other one of its pool can send.${why}`
}

export function noSource(source: string): string {
  return `No running worker has the source address ${source}, and no other one of its pool can send.`
}

export function warmUp(source: string, destination: string): string {
  return (
    `The source address ${source} is new. It has sent what it may send to ${destinationText(destination)} within this hour or day, and no other ` +
    `one of its pool can send.`
  )
}

export function onHold(expiresAt: Date | null, now: Date): string {
  return `The operator holds it.${expiresAt ? ` It expires at ${at(expiresAt, now)} unless it is released before.` : ''}`
}

export function indeterminate({ host }: WhyAttempt, nextAt: Date, now: Date): string {
  const server = host ?? 'the server'
  return (
    `The connection was lost after the message was sent, so ${server} may have accepted it. It is tried again at the same host at ` +
    `${at(nextAt, now)}, to avoid a duplicate.`
  )
}

export function dns(recipient: string, last: WhyAttempt, nextAt: Date, now: Date): string {
  const domain = recipient.slice(recipient.lastIndexOf('@') + 1)
  return `The mail servers of ${domain} could not be found (${replyOf(last)}). The next attempt is planned for ${at(nextAt, now)}.`
}

export function retry(last: WhyAttempt, nextAt: Date, now: Date): string {
  const next = `The next attempt is planned for ${at(nextAt, now)}.`
  if (last.outcome === 'abandoned') return `The worker that was trying to deliver it stopped. ${next}`
  // Failures that this service reports have no host, or no code.
  const isRejected = last.host !== null && last.code !== null
  const what = isRejected ? `${last.host} rejected it temporarily` : 'The last attempt failed'
  return `${what} (${replyOf(last)}).${demandOf(last)} ${next}`
}

export const RECIPIENT_HELD =
  'The recipient got the same message more than twenty times within ten minutes. Mail of this account to the recipient waits for an hour.'

export const ONE_CLICK_HELD =
  'Bulk mail without one-click unsubscription (RFC 8058) is held: Gmail and Yahoo demand it. It expires, unless the account setting requirements becomes ' +
  'warn. Send it again with an unsubscribe link.'

/** `lacks`: what large receivers demand; undefined if the domain has just got it. */
export function domainHeld(domain: string, lacks: readonly string[] | undefined): string {
  if (!lacks) return `Bulk mail of ${domain} was held, and is sent again now.`
  const names = lacks.map((name) => DEMANDS[name] ?? name).join(', ')
  return (
    `Bulk mail of ${domain} is held, because the domain lacks what Gmail, Yahoo or Microsoft demand of large senders: ${names}. It is sent once a check ` +
    'of the domain finds that, or expires.'
  )
}

const DEMANDS: Readonly<Record<string, string>> = {
  dkim: 'a valid DKIM record and a key of at least 1024 bits',
  spf: 'SPF or an own return path',
  dmarc: 'a DMARC record',
  alignment: 'a DKIM signature or return path of the domain in From',
}

/** `hold`: undefined if it has just ended. The operator's reason is not for the sender. */
export function accountHeld(hold: HoldReason | undefined, isOperator: boolean): string {
  if (!hold) return 'Mail of the account was held or slowed, and is sent again now.'
  const why = HOLD_TEXTS[hold.rule] ?? 'The operator holds mail of this account'
  const reason = isOperator && hold.reason !== null ? `: ${shortened(hold.reason)}` : ''
  if (hold.level === 'held') return `${why}${reason}. It waits until it is released, or expires.`
  return `${why}${reason}. At most ${hold.rate} messages per hour of the account are sent.`
}

const HOLD_TEXTS: Readonly<Record<string, string>> = {
  closed: 'The account is closed, and will be deleted',
  'unknown-recipients': 'Mail of the account is held, because much of it went to addresses that do not exist',
  'sudden-volume': 'Mail of the account is slowed, because there is far more of it than usual',
  bounces: 'Mail of the account is held back, because much of it bounced',
  complaints: 'Mail of the account is held back, because recipients reported it as spam',
}
