import type { Stage } from '../../delivery/outcome.ts'

/** Maximum length of a reply, as of those that this service receives itself. */
export const MAX_REPLY = 1024

/** A reply within a text. */
export interface FoundReply {
  /** 0 if there is none. */
  readonly code: number
  /** Empty if there is none. */
  readonly enhanced: string
  /** From the code to the end; the whole text if there is no code. */
  readonly text: string
}

/** A code is followed by a space or a hyphen, and is not part of a number, an address or a name. */
const CODE = /(?<![\w.@/#=+-]|\d:)([45][0-5]\d)(?=[- ,;:]|$)(?! [45]\d\d[- ])/
/** RFC 3463 2. Not part of an IP address. */
const ENHANCED = /(?<![\w.])([245]\.\d{1,3}\.\d{1,3})(?![\w]|\.\d)/
/** Immediately after the code, or quoted after it. */
const AFTER_CODE = /^[45]\d\d[- ,;:][ '"(#]{0,3}(?:ERROR_CODE :)?([245]\.\d{1,3}\.\d{1,3})(?![\w]|\.\d)/

/** Finds the first reply with a 4xx or 5xx code in a text of one line. */
export function replyIn(text: string): FoundReply {
  const at = CODE.exec(text)
  const from = at ? text.slice(at.index) : text
  const enhanced = AFTER_CODE.exec(from)?.[1] ?? ENHANCED.exec(from)?.[1] ?? ''
  return { code: at ? Number(at[1]) : 0, enhanced, text: from.slice(0, MAX_REPLY).toWellFormed() }
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

/** How servers write after which command a message was rejected. The first match wins. */
const STAGES: readonly StageRule[] = [
  // The recipient was rejected while DATA was already sent (RFC 2920).
  { text: /\bneed rcpt\b|\bno valid recipients\b/i, stage: 'rcpt' },
  {
    text: /\b(end of data|final data|sending data block|message body)\b|\[BODY\]|\(state 1[78]\)|>>> \.(?: |$)/i,
    stage: 'dot',
  },
  {
    text: /\b(after|in reply to|response to|our|pipelined) (the )?(pipelined )?rcpt\b|\[RCPT_TO\]|\(state 1[34]\)|\bSMTP:RCPT\b|\bSMTP command rcpt\b/i,
    stage: 'rcpt',
  },
  {
    text: /\b(after|in reply to|response to|our|pipelined) (the )?(pipelined )?data\b|\[DATA\]|\(DATA\)|\bSMTP:DATA\b/i,
    stage: 'data',
  },
  {
    text: /\b(after|in reply to|response to|our|pipelined) (the )?(pipelined )?mail\b|\[MAIL_FROM\]|\bSMTP:MAIL\b/i,
    stage: 'mail',
  },
  { text: /\b(after|in reply to|response to|our) (the )?(ehlo|helo)\b/i, stage: 'ehlo' },
  {
    text: /\b(after|in reply to) (the )?(initial connection|greeting)\b|\brefused to talk to me\b/i,
    stage: 'greeting',
  },
  { text: />>> RCPT TO/i, stage: 'rcpt' },
  { text: />>> DATA/i, stage: 'data' },
  { text: />>> MAIL FROM/i, stage: 'mail' },
  { text: />>> (EHLO|HELO)/i, stage: 'ehlo' },
]

/** Returns the stage at which a message was rejected, as far as the text says it. */
export function stageIn(text: string): Stage | undefined {
  return STAGES.find((rule) => rule.text.test(text))?.stage
}
