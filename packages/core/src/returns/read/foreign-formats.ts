import type { Stage } from '../../delivery/outcomes/outcome.ts'
import type { Action } from './return-reading.ts'

/**
 * A format of bounce reports for people. A report in it has lines from one that matches `from`, up to one that matches `to` or the
 * end. Each recipient begins with a line that begins with the address, or with one that matches `recipient`; the lines that follow
 * are the reason.
 */
export interface ForeignFormat {
  readonly name: string
  /** Matched against the fields From and Subject, with their names. If absent, `from` is sufficient. */
  readonly when?: RegExp
  readonly from: RegExp
  readonly to?: RegExp
  /** Its first group contains the address. The line is part of the reason. */
  readonly recipient?: RegExp
  /** The place of the reason: before the line of its recipient, or only the line that matches `from`. By default, after it. */
  readonly reason?: 'before' | 'first-line'
  /** The stage at which servers with this format reject recipients, if they do not say it. */
  readonly stage?: Stage
  /** `failed` by default. */
  readonly action?: Action
}

/** The first format that fits is used. */
export const FOREIGN_FORMATS: readonly ForeignFormat[] = [
  {
    name: 'exim-delay',
    from: /^The (?:address(?:es)? to which the message has not yet been delivered (?:is|are)|following address(?:\(es\))? ha(?:s|ve) not yet been delivered):$/,
    to: /^No action is required/,
    action: 'delayed',
  },
  { name: 'gmail-delay', from: /^Delivery to the following recipients? has been delayed:$/, action: 'delayed' },
  { name: 'gmail', from: /^Del[ei]very to the following recipients? failed permanently:$/ },
  { name: 'exim', from: /^(?:.{0,80} )?following address(?:\(es\)|es)? failed:$/ },
  { name: 'gmx', from: /^failed:$/, when: /^Subject: Mail delivery failed/i },
  { name: 'zoho', from: /^A message that you sent could not be delivered/, when: /^From: .{0,60}zoho/i },
  {
    name: 'qmail',
    from: /^Hi\. (?:This is the|The) .{0,80}(?:qmail|MTA|program)|^I.m afraid I was ?n.t able to deliver/i,
  },
  { name: 'yahoo', from: /^Sorry, we were unable to deliver your message/i },
  { name: 'postini', from: /^Your mail message to the following address\(es\) could not be delivered/ },
  { name: 'yahoo-japan', from: /^Unable to deliver message to the following address/ },
  {
    name: 'mailfoundry',
    from: /^Unable to deliver message to:/,
    recipient: /^Unable to deliver message to: <([^<>]*)>/,
  },
  { name: 'opensmtpd', from: /^ *the following list of recipients:$/ },
  {
    name: 'dragonfly',
    from: /^There was an error delivering your mail to </,
    recipient: /^There was an error delivering your mail to <([^<>]*)>/,
  },
  {
    name: 'one-recipient',
    from: /^Did not reach the following recipient: \S/i,
    recipient: /^Did not reach the following recipient: (\S{1,320})/i,
  },
  {
    name: 'mailbox-full',
    from: /^User.s mailbox is full: </,
    recipient: /^User.s mailbox is full: <([^<>]*)>/,
  },
  { name: 'smail', from: /^\|-+ Failed addresses follow: -+\|$/, to: /^\|-+ Message text follows: -+\|$/ },
  // Of Dovecot, in addition to the fields of a report.
  {
    name: 'dovecot',
    from: /^Your message to <[^<>]*> was automatically rejected:$/,
    recipient: /^Your message to <([^<>]*)> was/,
  },
  { name: 'domino', from: /^was not delivered to:$/ },
  { name: 'exchange', from: /^did not reach the following recipient\(s\):$/ },
  { name: 'exchange-online', from: /^Diagnostic information for administrators:$/ },
  { name: 'postfix', from: /^This is the .{1,60} at host |^If you do so, please include/ },
  {
    name: 'imail',
    when: /^Subject: Undeliverable Mail/i,
    from: /^[A-Za-z][\w ,.'-]{1,60}: [^\s@]{1,64}@\S{1,255}$/,
    recipient: /^[A-Za-z][\w ,.'-]{1,60}: ([^\s@]{1,64}@\S{1,255})$/,
  },
  {
    name: 'imail-response',
    when: /^Subject: Undeliverable Mail/i,
    from: /^undeliverable to \S/i,
    recipient: /^undeliverable to (\S{1,320})/i,
  },
  { name: 'm-filter', from: /^-+server message$/, to: /^-+original /, stage: 'data' },
  {
    name: 'pmdf',
    from: /^Your message cannot be delivered to the following recipients:$/,
    recipient: /^ *Recipient address: (.{1,320})/,
  },
  {
    name: 'fml',
    when: /^Subject: (?:Loop (?:Alert|Back Warning)|WARNING: UNIX FROM Loop|Ignored NOT MEMBER article|reject mail from|fml system error|Security Alert)/i,
    from: /^\S/,
    reason: 'first-line',
    to: /^Original mail as follows:$/,
  },
  {
    name: 'apache-james',
    from: /^Error message below:$/,
    recipient: /^ *RCPT TO: (.*)/,
    reason: 'before',
    stage: 'dot',
  },
  { name: 'active-hunter', from: /addresses had permanent fatal errors -+$/, recipient: /^>>> \S{1,320} <([^<>]*)>/ },
  { name: 'addresses', from: /^ *-+ ?The following addresses had (?:permanent |delivery |transient )/ },
  {
    name: 'sendmail-transcript',
    from: /^ *-+ ?Transcript of session follows/,
    recipient: /^[45]\d\d (?:[45]\.\d\.\d )?(\S{1,320})\.\.\. /,
    reason: 'before',
  },
  { name: 'notes', from: /^-+ Failure Reasons +-+$/ },
  { name: 'surfcontrol', from: /^Failed to send to identified host,$/ },
  { name: 'x6', from: /^\d+ error\(s\):$/, recipient: /^The following recipients returned permanent errors: (.*)/ },
  { name: 'kddi', from: /Could not be delivered to: </, recipient: /Could not be delivered to: <([^<>]*)>/ },
  { name: 'ezweb-account', from: /^The user\(s\) account is /, reason: 'first-line' },
  { name: 'ezweb-late', from: /^Your message was not delivered within \d/, reason: 'first-line' },
  {
    name: 'ezweb',
    from: /^Each of the following recipients was rejected by a remote/,
    recipient: /^ *Recipient: <([^<>]*)>/,
  },
  { name: 'verizon', from: /^Message could not be delivered to mobile/ },
]
