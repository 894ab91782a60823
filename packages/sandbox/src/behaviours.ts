/** The providers that the sandbox simulates: the local part of the recipient selects a behaviour. A test compares the README with this table. */
export interface Reply {
  readonly code: number
  readonly text: string
}

export type Behaviour =
  /** A reply to RCPT. */
  | { readonly at: 'rcpt'; readonly reply: Reply }
  /** A reply at end of data. */
  | { readonly at: 'dot'; readonly reply: Reply }
  /** Closes the connection without a reply, at RCPT or at end of data; `stored`: after storing the message. */
  | { readonly at: 'hangup'; readonly when: 'rcpt' | 'dot'; readonly stored: boolean }
  /** Accepts the message, after a wait before the last reply. */
  | { readonly at: 'slow'; readonly milliseconds: number }
  /** Over TLS the session ends and the next TLS handshake fails; in plain text the message is accepted. */
  | { readonly at: 'tls' }

interface Rule {
  readonly pattern: RegExp
  readonly does: string
  /** `tries`: number of earlier attempts at this delivery. undefined: accept the message. */
  readonly play: (match: RegExpExecArray, tries: number) => Behaviour | undefined
}

const rcpt = (code: number, text: string): Behaviour => ({ at: 'rcpt', reply: { code, text } })

export const BEHAVIOURS: readonly Rule[] = [
  {
    pattern: /^bounce$/,
    does: 'rejects the recipient: 550 5.1.1',
    play: () => rcpt(550, '5.1.1 The mailbox does not exist'),
  },
  {
    pattern: /^full$/,
    does: 'rejects the recipient: 552 5.2.2, mailbox full',
    play: () => rcpt(552, '5.2.2 The mailbox is full'),
  },
  {
    pattern: /^blocked$/,
    does: 'rejects the message at end of data: 554 5.7.1',
    play: () => ({ at: 'dot', reply: { code: 554, text: '5.7.1 The message looks like spam' } }),
  },
  {
    pattern: /^defer-(\d{1,3})$/,
    does: 'defers the recipient N times (451 4.7.1), then accepts the message',
    play: (match, tries) =>
      tries < Number(match[1]) ? rcpt(451, '4.7.1 Greylisted, please try again later') : undefined,
  },
  {
    pattern: /^defer$/,
    does: 'defers the recipient every time: 451 4.7.1',
    play: () => rcpt(451, '4.7.1 Try again later'),
  },
  {
    pattern: /^busy$/,
    does: 'ends the session at the recipient: 421 4.3.2',
    play: () => rcpt(421, '4.3.2 Too busy, closing'),
  },
  {
    pattern: /^slow(?:-(\d{1,3}))?$/,
    does: 'accepts the message, but replies to end of data only after N seconds (default 5)',
    play: (match) => ({ at: 'slow', milliseconds: Number(match[1] ?? 5) * 1000 }),
  },
  {
    pattern: /^disconnect$/,
    does: 'closes the connection at the recipient without a reply, every time',
    play: () => ({ at: 'hangup', when: 'rcpt', stored: false }),
  },
  {
    pattern: /^hangup$/,
    does: 'closes the connection at end of data the first time, without storing the message',
    play: (_match, tries) => (tries === 0 ? { at: 'hangup', when: 'dot', stored: false } : undefined),
  },
  {
    pattern: /^hangup-stored$/,
    does: 'stores the message the first time, but closes the connection without a reply, so the sender cannot know',
    play: (_match, tries) => (tries === 0 ? { at: 'hangup', when: 'dot', stored: true } : undefined),
  },
  {
    pattern: /^tls-broken$/,
    does: 'breaks TLS: the session ends (421 4.7.0), the next handshake fails, and the message is accepted in plain text',
    play: () => ({ at: 'tls' }),
  },
]

/** The behaviour for this recipient; undefined: accept the message. */
export function behaviourOf(recipient: string, tries: number): Behaviour | undefined {
  const local = recipient.slice(0, recipient.lastIndexOf('@')).toLowerCase()
  for (const { pattern, play } of BEHAVIOURS) {
    const match = pattern.exec(local)
    if (match) return play(match, tries)
  }
  return undefined
}
