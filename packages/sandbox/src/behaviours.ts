/**
 * How the sandbox plays a provider: the local part of the recipient says what it does. The README of this package lists them,
 * and a test holds the list against this table.
 */
export interface Reply {
  readonly code: number
  readonly text: string
}

export type Behaviour =
  /** A reply to RCPT. */
  | { readonly at: 'rcpt'; readonly reply: Reply }
  /** A reply to the final dot. */
  | { readonly at: 'dot'; readonly reply: Reply }
  /** The connection is closed without a word, at RCPT or at the final dot; `stored`: after taking the message. */
  | { readonly at: 'hangup'; readonly when: 'rcpt' | 'dot'; readonly stored: boolean }
  /** Taken, after a wait before the last reply. */
  | { readonly at: 'slow'; readonly milliseconds: number }
  /** Over TLS the session ends and the next TLS handshakes fail; in plain text the message is taken. */
  | { readonly at: 'tls' }

interface Rule {
  readonly pattern: RegExp
  readonly does: string
  /** `tries`: how often this delivery was offered before. undefined: take the message. */
  readonly play: (match: RegExpExecArray, tries: number) => Behaviour | undefined
}

const rcpt = (code: number, text: string): Behaviour => ({ at: 'rcpt', reply: { code, text } })

export const BEHAVIOURS: readonly Rule[] = [
  {
    pattern: /^bounce$/,
    does: 'refuses the recipient: 550 5.1.1',
    play: () => rcpt(550, '5.1.1 The mailbox does not exist'),
  },
  {
    pattern: /^full$/,
    does: 'refuses the recipient: 552 5.2.2, mailbox full',
    play: () => rcpt(552, '5.2.2 The mailbox is full'),
  },
  {
    pattern: /^blocked$/,
    does: 'refuses the message at the final dot: 554 5.7.1',
    play: () => ({ at: 'dot', reply: { code: 554, text: '5.7.1 The message looks like spam' } }),
  },
  {
    pattern: /^defer-(\d{1,3})$/,
    does: 'defers the recipient N times (451 4.7.1), then takes the message',
    play: (match, tries) => (tries < Number(match[1]) ? rcpt(451, '4.7.1 Greylisted, please come again') : undefined),
  },
  {
    pattern: /^defer$/,
    does: 'defers the recipient every time: 451 4.7.1',
    play: () => rcpt(451, '4.7.1 Not now'),
  },
  {
    pattern: /^busy$/,
    does: 'ends the session at the recipient: 421 4.3.2',
    play: () => rcpt(421, '4.3.2 Too busy, closing'),
  },
  {
    pattern: /^slow(?:-(\d{1,3}))?$/,
    does: 'takes the message but answers the final dot after N seconds (5 by default)',
    play: (match) => ({ at: 'slow', milliseconds: Number(match[1] ?? 5) * 1000 }),
  },
  {
    pattern: /^disconnect$/,
    does: 'closes the connection at the recipient, without a word, every time',
    play: () => ({ at: 'hangup', when: 'rcpt', stored: false }),
  },
  {
    pattern: /^hangup$/,
    does: 'closes the connection at the final dot the first time, without taking the message',
    play: (_match, tries) => (tries === 0 ? { at: 'hangup', when: 'dot', stored: false } : undefined),
  },
  {
    pattern: /^hangup-stored$/,
    does: 'takes the message the first time and closes the connection instead of saying so: the sender can not know',
    play: (_match, tries) => (tries === 0 ? { at: 'hangup', when: 'dot', stored: true } : undefined),
  },
  {
    pattern: /^tls-broken$/,
    does: 'fails TLS: the session ends (421 4.7.0), the next handshake breaks, and the message is taken in plain text',
    play: () => ({ at: 'tls' }),
  },
]

/** What to do with this recipient; undefined: take the message. */
export function behaviourOf(recipient: string, tries: number): Behaviour | undefined {
  const local = recipient.slice(0, recipient.lastIndexOf('@')).toLowerCase()
  for (const { pattern, play } of BEHAVIOURS) {
    const match = pattern.exec(local)
    if (match) return play(match, tries)
  }
  return undefined
}
