import type { Stage } from '../../delivery/outcomes/outcome.ts'

/** Maximum length of a reply, as of those that this service receives itself. */
export const MAX_REPLY = 1024

/** A reply within a text. */
export interface FoundReply {
  /** 0 if there is none. */
  readonly code: number
  /** The enhanced code that belongs to the reply; empty if there is none. */
  readonly enhanced: string
  /** The first enhanced code at any place, which may be something else; empty if there is none. */
  readonly mentioned: string
  /** From the code to the end; the whole text if there is no code. */
  readonly text: string
}

/** A code is followed by a space or a hyphen, and is not part of a number, an address or a name. */
const CODE = /(?<![\w.@/#=+-]|\d:)([45][0-5]\d)(?=[- ,;:]|$)(?! [45]\d\d[- ])/
/** RFC 3463 2. Not part of an IP address, but perhaps a version of software. */
const ENHANCED = /(?<![\w.])([245]\.\d{1,3}\.\d{1,3})(?![\w]|\.\d)/
/** Immediately after the reply code, perhaps quoted; `(#5.1.1)` of qmail. */
const MARKED = /#([245]\.\d{1,3}\.\d{1,3})(?![\w]|\.\d)/
const AFTER_CODE = /^[45]\d\d[- ,;:][ '"(#]{0,3}(?:ERROR_CODE :)?([245]\.\d{1,3}\.\d{1,3})(?![\w]|\.\d)/

/** Finds the first reply with a 4xx or 5xx code in a text of one line. */
export function replyIn(text: string): FoundReply {
  const at = CODE.exec(text)
  const from = at ? text.slice(at.index) : text
  return {
    code: at ? Number(at[1]) : 0,
    enhanced: AFTER_CODE.exec(from)?.[1] ?? MARKED.exec(from)?.[1] ?? '',
    mentioned: ENHANCED.exec(from)?.[1] ?? '',
    text: from.slice(0, MAX_REPLY).toWellFormed(),
  }
}

/** Longest text in which a reply is searched. */
export const MAX_SEARCHED = 4096

/** Returns the beginning of the text on one line, without control characters. */
export function oneLine(text: string): string {
  return text
    .slice(0, MAX_SEARCHED)
    .replace(/[\p{Cc}\s]+/gu, ' ')
    .trim()
    .toWellFormed()
}

interface StageRule {
  readonly text: RegExp
  readonly stage: Stage
}

/**
 * How servers write after which command a message was rejected. The first match wins. Commands are in capital letters: `our mail` is
 * not one.
 */
const STAGES: readonly StageRule[] = [
  // The recipient was rejected while DATA was already sent (RFC 2920).
  { text: /\bneed rcpt\b|\bno valid recipients\b/i, stage: 'rcpt' },
  { text: /\bend of data\b|\bsending data block\b/i, stage: 'dot' },
  { text: /\bour final DATA\b|\[BODY\]|\(state 1[78]\)|>>> \.(?: |$)/, stage: 'dot' },
  {
    text: /\b(after|reply to|response to|our) (the )?(pipelined )?RCPT\b|\[RCPT_TO\]|\(state 1[34]\)|\bSMTP:RCPT\b|\bSMTP command RCPT\b/,
    stage: 'rcpt',
  },
  {
    text: /\b(after|reply to|response to|our) (the )?(pipelined )?DATA\b|\[DATA\]|\(DATA\)|\bSMTP:DATA\b/,
    stage: 'data',
  },
  { text: /\b(after|reply to|response to|our) (the )?(pipelined )?MAIL\b|\[MAIL_FROM\]|\bSMTP:MAIL\b/, stage: 'mail' },
  { text: /\b(after|reply to|response to|our) (the )?(EHLO|HELO)\b/, stage: 'ehlo' },
  { text: /\b(after|reply to) (the )?(initial connection|greeting)\b|\brefused to talk to me\b/i, stage: 'greeting' },
  { text: />>> RCPT/i, stage: 'rcpt' },
  { text: />>> DATA/i, stage: 'data' },
  { text: />>> MAIL/i, stage: 'mail' },
  { text: />>> (EHLO|HELO)/i, stage: 'ehlo' },
]

/** Returns the stage at which a message was rejected, as far as the text says it. */
export function stageIn(text: string): Stage | undefined {
  return STAGES.find((rule) => rule.text.test(text))?.stage
}
