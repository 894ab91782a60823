import { substituterFor } from '../../composition/substitute.ts'
import { hasTooMany, TOO_MANY_KEYS } from '../../content/substitution/sections.ts'
import { parseAddress } from '../../mime/address.ts'
import { inTurns, type Stoppable } from '../../platform/concurrency/turns.ts'
import { invalidParameter } from '../../platform/errors.ts'
import { LIMITS } from '../../submission/limits.ts'
import type { Submission, SubmittedEnvelope } from '../../submission/submission.ts'

/** Checks the data stored with each delivery: the database accepts only valid Unicode without NUL. Throws parameterInvalid. */
export function checkKept(submission: Submission): void | Promise<void> {
  const { sections = {}, envelopes, nameOf } = submission
  const isPlain = ({ substitutions, customArgs }: SubmittedEnvelope): boolean => !substitutions && !customArgs
  if (submission.sections === undefined && envelopes.every(isPlain)) return undefined
  if (hasTooMany(Object.keys(sections))) throw invalidParameter(nameOf('sections'), TOO_MANY_KEYS)
  return inTurns(keptChecked(submission))
}

function* keptChecked({ envelopes, nameOf }: Submission): Stoppable<void> {
  for (const [at, { substitutions, customArgs }] of envelopes.entries()) {
    for (const [field, map] of [
      ['substitutions', substitutions],
      ['customArgs', customArgs],
    ] as const) {
      if (map === undefined) continue
      for (const text of Object.entries(map).flat()) {
        if (text.includes('\0')) throw invalidParameter(nameOf(field, at), 'must not contain NUL')
        if (!text.isWellFormed()) throw invalidParameter(nameOf(field, at), 'is not well-formed Unicode')
      }
      yield
    }
    if (substitutions && hasTooMany(Object.keys(substitutions))) {
      throw invalidParameter(nameOf('substitutions', at), TOO_MANY_KEYS)
    }
  }
}

/** Returns the number of characters that are stored with each copy of an envelope. */
export function keptLength({ substitutions, customArgs, data }: SubmittedEnvelope): number {
  if (substitutions === undefined && customArgs === undefined && data === undefined) return 0
  return JSON.stringify([substitutions, customArgs, data]).length
}

/** Checks that headers contain no line ends after substitution (V20) and that addresses are valid. Throws parameterInvalid. */
export function checkSubstituted(submission: Submission): void | Promise<void> {
  if (submission.envelopes.some(({ substitutions }) => substitutions !== undefined)) {
    return inTurns(substitutedChecked(submission))
  }
}

/** Maximum characters of sections scanned without a match in a header, because they are scanned for each recipient. */
const IDLE_IN_HEADER = 16 * 1024

function* substitutedChecked(submission: Submission): Stoppable<void> {
  const { envelopes, replyTo, replyToList = [], nameOf } = submission
  for (const [at, { substitutions, subject = submission.subject }] of envelopes.entries()) {
    if (substitutions === undefined) continue
    const substituter = substituterFor(submission, substitutions)
    yield
    const fill = function* (text: string): Stoppable<string> {
      const filled = yield* substituter.substitute(text, substitutions, {
        left: LIMITS.headerText,
        idle: IDLE_IN_HEADER,
      })
      yield
      if (filled === undefined) {
        throw invalidParameter(
          nameOf('substitutions', at),
          `header must have at most ${LIMITS.headerText} characters after substitution`,
        )
      }
      if (filled !== text && /[\r\n\0]/.test(filled)) {
        throw invalidParameter(nameOf('substitutions', at), 'value used in a header must not contain CR, LF or NUL')
      }
      return filled
    }
    yield* fill(subject ?? '')
    for (const { name } of replyToList) yield* fill(name)
    for (const email of [replyTo ?? '', ...replyToList.map(({ email }) => email)]) {
      if (email !== '' && !parseAddress(yield* fill(email))) {
        throw invalidParameter(nameOf('substitutions', at), 'Reply-To is not a valid address after substitution')
      }
    }
  }
}
