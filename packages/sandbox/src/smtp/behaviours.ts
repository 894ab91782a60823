import type { ReportKind } from './reports.ts'

/**
 * The providers that the sandbox simulates: the recipient's local part, otherwise its domain, selects a behaviour. A test compares the README with this table.
 */
export interface Reply {
  readonly code: number
  readonly text: string
}

export type Behaviour =
  /** A reply to RCPT. */
  | { readonly at: 'rcpt'; readonly reply: Reply }
  /** A reply to RCPT after this number of recipients of the domain within a minute. The minute begins with the first recipient accepted. */
  | { readonly at: 'limit'; readonly perMinute: number; readonly reply: Reply }
  /** A reply at end of data. */
  | { readonly at: 'dot'; readonly reply: Reply }
  /** Closes the connection without a reply, at RCPT or at end of data; `stored`: after storing the message. */
  | { readonly at: 'hangup'; readonly when: 'rcpt' | 'dot'; readonly stored: boolean }
  /** Accepts the message, after a wait before the last reply. */
  | { readonly at: 'slow'; readonly milliseconds: number }
  /** Accepts the message and reports something about it afterwards. */
  | { readonly at: 'report'; readonly kind: ReportKind }
  /** Over TLS the session ends and the next TLS handshake fails; in plain text the message is accepted. */
  | { readonly at: 'tls' }

/** The earlier attempts at a delivery. */
export interface Past {
  readonly tries: number
  /** Seconds since the first attempt; 0 if there was none. */
  readonly seconds: number
}

interface Rule {
  /** The part of the recipient that selects the behaviour. */
  readonly part: 'local' | 'domain'
  /** Matches the part in lower case. */
  readonly pattern: RegExp
  readonly does: string
  /** undefined: accept the message. */
  readonly play: (match: RegExpExecArray, past: Past) => Behaviour | undefined
}

const THROTTLED: Reply = {
  code: 421,
  text: '4.7.0 [TSS04] Messages from this address are temporarily deferred due to unexpected volume',
}

const rcpt = (code: number, text: string): Behaviour => ({ at: 'rcpt', reply: { code, text } })

export const BEHAVIOURS: readonly Rule[] = [
  {
    part: 'local',
    pattern: /^bounce$/,
    does: 'rejects the recipient: 550 5.1.1',
    play: () => rcpt(550, '5.1.1 The mailbox does not exist'),
  },
  {
    part: 'local',
    pattern: /^full$/,
    does: 'rejects the recipient: 552 5.2.2, mailbox full',
    play: () => rcpt(552, '5.2.2 The mailbox is full'),
  },
  {
    part: 'local',
    pattern: /^blocked$/,
    does: 'rejects the message at end of data: 554 5.7.1',
    play: () => ({ at: 'dot', reply: { code: 554, text: '5.7.1 The message looks like spam' } }),
  },
  {
    part: 'local',
    pattern: /^defer-(\d{1,3})$/,
    does: 'defers the recipient N times (451 4.7.1), then accepts the message',
    play: (match, { tries }) =>
      tries < Number(match[1]) ? rcpt(451, '4.7.1 Greylisted, please try again later') : undefined,
  },
  {
    part: 'local',
    pattern: /^defer$/,
    does: 'defers the recipient every time: 451 4.7.1',
    play: () => rcpt(451, '4.7.1 Try again later'),
  },
  {
    part: 'local',
    pattern: /^busy$/,
    does: 'ends the session at the recipient: 421 4.3.2',
    play: () => rcpt(421, '4.3.2 Too busy, closing'),
  },
  {
    part: 'local',
    pattern: /^slow(?:-(\d{1,3}))?$/,
    does: 'accepts the message, but replies to end of data only after N seconds (default 5)',
    play: (match) => ({ at: 'slow', milliseconds: Number(match[1] ?? 5) * 1000 }),
  },
  {
    part: 'local',
    pattern: /^disconnect$/,
    does: 'closes the connection at the recipient without a reply, every time',
    play: () => ({ at: 'hangup', when: 'rcpt', stored: false }),
  },
  {
    part: 'local',
    pattern: /^hangup$/,
    does: 'closes the connection at end of data the first time, without storing the message',
    play: (_match, { tries }) => (tries === 0 ? { at: 'hangup', when: 'dot', stored: false } : undefined),
  },
  {
    part: 'local',
    pattern: /^hangup-stored$/,
    does: 'stores the message the first time, but closes the connection without a reply, so the sender cannot know',
    play: (_match, { tries }) => (tries === 0 ? { at: 'hangup', when: 'dot', stored: true } : undefined),
  },
  {
    part: 'local',
    pattern: /^tls-broken$/,
    does: 'breaks TLS: the session ends (421 4.7.0), the next handshake fails, and the message is accepted in plain text',
    play: () => ({ at: 'tls' }),
  },
  {
    part: 'local',
    pattern: /^throttle$/,
    does:
      'ends the session at the recipient as a provider that asks for less mail: 421 4.7.0 [TSS04]. No back-off rule applies at ' +
      'other domains than throttling.test: the message is retried as usual',
    play: () => ({ at: 'rcpt', reply: THROTTLED }),
  },
  {
    part: 'local',
    pattern: /^late-bounce$/,
    does: 'accepts the message, then reports to its return path that the mailbox does not exist: 5.1.1',
    play: () => ({ at: 'report', kind: 'late-bounce' }),
  },
  {
    part: 'local',
    pattern: /^mailbox-full$/,
    does: 'accepts the message, then reports to its return path that the mailbox is full: 5.2.2',
    play: () => ({ at: 'report', kind: 'mailbox-full' }),
  },
  {
    part: 'local',
    pattern: /^complain$/,
    does: 'accepts the message, then reports to fbl@ that the recipient has marked it as spam',
    play: () => ({ at: 'report', kind: 'complaint' }),
  },
  {
    part: 'local',
    pattern: /^vacation$/,
    does: 'accepts the message, then sends an automatic reply to its return path',
    play: () => ({ at: 'report', kind: 'auto-reply' }),
  },
  {
    part: 'domain',
    pattern: /^throttling\.test$/,
    does: 'accepts 5 recipients per minute and ends the session at the others: 421 4.7.0 [TSS04], which pauses the provider for a minute',
    play: () => ({ at: 'limit', perMinute: 5, reply: THROTTLED }),
  },
  {
    part: 'domain',
    pattern: /^greylisting\.test$/,
    does: 'defers each pair of sender and recipient (451 4.7.1) until 60 seconds after the first attempt',
    play: (_match, { seconds }) =>
      seconds < 60 ? rcpt(451, '4.7.1 Greylisted, please try again in 60 seconds') : undefined,
  },
  {
    part: 'domain',
    pattern: /^slow\.test$/,
    does: 'accepts every message, but replies to end of data only after 2 seconds',
    play: () => ({ at: 'slow', milliseconds: 2000 }),
  },
]

/** The behaviour for this recipient; undefined: accept the message. */
export function behaviourOf(recipient: string, past: Past): Behaviour | undefined {
  const local = recipient.slice(0, recipient.lastIndexOf('@')).toLowerCase()
  const parts = { local, domain: domainOf(recipient) }
  for (const { part, pattern, play } of BEHAVIOURS) {
    const match = pattern.exec(parts[part])
    if (match) return play(match, past)
  }
  return undefined
}

/** In lower case. */
export function domainOf(recipient: string): string {
  return recipient.slice(recipient.lastIndexOf('@') + 1).toLowerCase()
}
