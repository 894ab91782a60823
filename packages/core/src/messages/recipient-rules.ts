import { invalidParameter } from '../errors.ts'
import { parseAddress } from '../recipients/address.ts'
import { LIMITS } from './limits.ts'
import type { Submission, SubmittedEnvelope } from './submission.ts'
import { substituterFor } from './substitute.ts'

/** What is kept with a delivery is stored as it is: the database takes every text but NUL, and Unicode only. */
export function checkKept({ envelopes, nameOf }: Submission): void {
  for (const [at, { substitutions, customArgs }] of envelopes.entries()) {
    for (const [field, map] of [
      ['substitutions', substitutions],
      ['customArgs', customArgs],
    ] as const) {
      if (map === undefined) continue
      for (const text of Object.entries(map).flat()) {
        if (text.includes('\0')) throw invalidParameter(nameOf(field, at), 'it must not contain NUL')
        if (!text.isWellFormed()) throw invalidParameter(nameOf(field, at), 'it is not well-formed Unicode')
      }
    }
  }
}

/** Characters of what is kept with each copy of an envelope. */
export function keptLength({ substitutions, customArgs, data }: SubmittedEnvelope): number {
  if (substitutions === undefined && customArgs === undefined && data === undefined) return 0
  return JSON.stringify([substitutions, customArgs, data]).length
}

/** What substitutions make of a header must not break it (V20), and an address must stay one. */
export function checkSubstituted(submission: Submission): void {
  const { envelopes, replyTo, replyToList = [], nameOf } = submission
  if (envelopes.every(({ substitutions }) => substitutions === undefined)) return
  for (const [at, { substitutions, subject = submission.subject }] of envelopes.entries()) {
    if (substitutions === undefined) continue
    const substituter = substituterFor(submission, substitutions)
    const fill = (text: string): string => {
      const filled = substituter.substitute(text, substitutions)
      if (filled === undefined || filled.length > LIMITS.headerText) {
        throw invalidParameter(nameOf('substitutions', at), `a header may have at most ${LIMITS.headerText} characters`)
      }
      if (filled !== text && /[\r\n\0]/.test(filled)) {
        throw invalidParameter(nameOf('substitutions', at), 'a value used in a header must not contain CR, LF or NUL')
      }
      return filled
    }
    fill(subject ?? '')
    for (const { name } of replyToList) fill(name)
    for (const email of [replyTo ?? '', ...replyToList.map(({ email }) => email)]) {
      if (email !== '' && !parseAddress(fill(email))) {
        throw invalidParameter(nameOf('substitutions', at), 'the Reply-To address must stay one')
      }
    }
  }
}
