import { isBlank, type StoredContent, storedContent } from '../../composition/stored-content.ts'
import type { FileSummary, StoredAttachment } from '../../content/files/index.ts'
import type { Template } from '../../content/templates/index.ts'
import { refusalsOf } from '../../content/templates/variables.ts'
import { longWork } from '../../platform/concurrency/turns.ts'
import { invalidParameter, ServiceError } from '../../platform/errors.ts'
import { LIMITS } from '../../submission/limits.ts'
import type { EntryPoint, Submission } from '../../submission/submission.ts'
import { checkDetails, everyEnvelopeHasSubject } from './detail-rules.ts'
import { checkCopies, checkFields, checkMergedContent, checkMergedHeaders } from './field-rules.ts'
import { keyAllows } from './key-rules.ts'
import { type Filled, fillTemplate, type KeyedTemplate, templateSize } from './keyed-template.ts'
import { checkKept, checkSubstituted } from './recipient-rules.ts'
import { type SenderFacts, type SenderLookups, senderActive } from './sender-rules.ts'
import { checkTls } from './tls.ts'
import { trialRecipients } from './trial.ts'
import { checkUrgency } from './urgency.ts'

export interface Lookups extends SenderLookups {
  readonly findTemplate: (accountId: number, id: number) => Promise<Template | undefined>
  readonly findKeyedTemplate: (accountId: number, key: string) => Promise<KeyedTemplate | undefined>
  readonly isOpenBatch: (accountId: number, id: string) => Promise<boolean>
  /** Whether messages may name this pool of sources. */
  readonly mayUsePool: (name: string) => Promise<boolean> | boolean
  readonly findAttachments: (accountId: number, ids: readonly number[]) => Promise<FileSummary[]>
  readonly readAttachments: (files: readonly FileSummary[]) => Promise<StoredAttachment[]>
  /** Takes capacity for stored content until the message is written. Throws overloaded. */
  readonly hold: (octets: number) => void
  readonly now: () => number
}

/** Results of the rules for a submission. */
export interface Facts extends SenderFacts {
  readonly template?: StoredContent
  /** Name of the template with `templateKey`. */
  readonly templateName?: string
  /** The submission with the texts of its template, if it has a `templateKey`. */
  readonly filled?: Filled
  /** Why the message cannot be sent, although the call succeeds. */
  readonly refusal?: 'template' | 'rendering'
  /** The mistake in the template, for `rendering`. */
  readonly refusalProblem?: string
  readonly attachments?: readonly StoredAttachment[]
}

/** Throws, or returns what it found out beyond the facts of the rules before it. */
// biome-ignore lint/suspicious/noConfusingVoidType: most checks find out nothing
type Check = (submission: Submission, facts: Facts, lookups: Lookups) => Facts | void | Promise<Facts | void>

export interface Rule {
  readonly name: string
  readonly entryPoints: readonly EntryPoint[]
  readonly check: Check
}

const EVERY: readonly EntryPoint[] = ['v2', 'v3', 'smtp']
const HTTP: readonly EntryPoint[] = ['v2', 'v3']
/** Entry points that use the fields of submission-details.ts. */
const DETAILED: readonly EntryPoint[] = ['v3', 'smtp']

/**
 * The rules for submissions, in order of precedence: of several errors the client gets the first (v2 contract section 3, tested).
 */
export const RULES: readonly Rule[] = [
  { name: 'the account may send', entryPoints: EVERY, check: ({ principal }) => accountMaySend(principal) },
  { name: 'a sender is given', entryPoints: EVERY, check: senderNamed },
  { name: 'no field exceeds its limits or injects header fields', entryPoints: EVERY, check: checkFields },
  { name: 'nor do the detailed fields', entryPoints: EVERY, check: checkDetails },
  { name: 'the class exists, and the deadline is within its limits', entryPoints: EVERY, check: checkUrgency },
  { name: 'the TLS level exists', entryPoints: EVERY, check: checkTls },
  { name: 'the sender is on an active domain of the account', entryPoints: EVERY, check: senderActive },
  { name: 'a recipient is given', entryPoints: EVERY, check: recipientNamed },
  { name: 'the number of recipients is within the limit', entryPoints: EVERY, check: recipientsCounted },
  { name: 'an account on trial sends to its own address only', entryPoints: EVERY, check: trialRecipients },
  { name: 'the copies are within the size limit', entryPoints: EVERY, check: checkCopies },
  { name: 'the key allows this mail', entryPoints: EVERY, check: keyAllows },
  { name: 'the data of each recipient can be stored', entryPoints: EVERY, check: checkKept },
  { name: 'the batch accepts messages', entryPoints: DETAILED, check: batchOpen },
  // Over SMTP, X-SMTPAPI is checked before: its sender is notified.
  { name: 'the pool of sources exists', entryPoints: ['v3'], check: poolKnown },
  { name: 'the template of the entry point is looked up', entryPoints: DETAILED, check: keyedTemplateFound },
  { name: 'a subject is given', entryPoints: HTTP, check: subjectNamed },
  { name: 'the template exists', entryPoints: EVERY, check: templateKnown },
  { name: 'content is given', entryPoints: HTTP, check: contentNamed },
  { name: 'the attachments exist', entryPoints: HTTP, check: attachmentsKnown },
  { name: 'the variables of the template have values', entryPoints: EVERY, check: variablesGiven },
  { name: 'merged values do not break headers', entryPoints: EVERY, check: mergedHeadersFit },
  { name: 'substituted values do not break headers', entryPoints: DETAILED, check: substitutedFit },
  { name: 'merged content is within the size limit', entryPoints: EVERY, check: mergedContentFits },
  { name: 'the schedule is not too far ahead', entryPoints: EVERY, check: scheduleNear },
]

/**
 * Validates a submission by all rules of its entry point, in order, and returns what they found out. Throws the first error. Yields to the
 * event loop between rules if one took long, as with ten thousand recipients.
 */
export async function validate(submission: Submission, lookups: Lookups): Promise<Facts> {
  const work = longWork()
  const { door, rules = door } = submission
  let facts: Facts = {}
  for (const { entryPoints, check } of RULES) {
    if (!entryPoints.includes(rules)) continue
    const checked = check(submission, facts, lookups)
    // Most rules return synchronously. Awaiting only the others saves a microtask turn per rule on the hot path.
    const more = checked instanceof Promise ? await checked : checked
    if (more) facts = { ...facts, ...more }
    const pause = work.pause()
    if (pause) await pause
  }
  return facts
}

/** Throws accountSuspended or accountExpired. Entry points check this before reading a body (v2 contract section 3: 115 before 110). */
export function accountMaySend(principal: Submission['principal']): void {
  if (principal.account.state === 'suspended') throw new ServiceError('accountSuspended')
  if (principal.expired) throw new ServiceError('accountExpired')
}

function senderNamed({ from, nameOf }: Submission): void {
  if (!from || from.email.trim() === '') {
    throw new ServiceError('parameterMissing', { values: { parameter: nameOf('fromEmail') } })
  }
}

function recipientNamed({ envelopes }: Submission): void {
  const named = envelopes.some(({ to }) => to.some((address) => address.trim() !== ''))
  if (!named) throw new ServiceError('recipientsMissing')
}

function recipientsCounted({ door, rules = door, envelopes }: Submission): void {
  // With a single SMTP envelope, the recipients are those of the transaction; otherwise a header field lists them.
  const limit = rules === 'smtp' && envelopes.length === 1 ? LIMITS.smtpRecipients : LIMITS.recipients
  let count = 0
  for (const { to, cc, bcc } of envelopes) count += to.length + cc.length + bcc.length
  if (count > limit) throw new ServiceError('recipientsTooMany', { values: { limit } })
}

/** Requires a subject of the call or the template, which is looked up here if necessary: of a template that does not exist, 118 says more than 116. */
function subjectNamed(given: Submission, { filled, refusal }: Facts, lookups: Lookups): undefined | Promise<Facts> {
  const submission = filled?.submission ?? given
  if (!isBlank(submission.subject) || refusal || everyEnvelopeHasSubject(submission)) return undefined
  if (submission.templateId === undefined) throw new ServiceError('subjectMissing')
  return findTemplate(submission, lookups).then((template) => {
    if (!template) throw new ServiceError('templateUnknown')
    if (isBlank(template.subject)) throw new ServiceError('subjectMissing')
    return { template }
  })
}

async function findTemplate(
  { templateId, principal }: Submission,
  lookups: Lookups,
): Promise<StoredContent | undefined> {
  const template = await lookups.findTemplate(principal.account.id, templateId as number)
  if (!template) return undefined
  lookups.hold(sizeOf(template))
  return storedContent(template)
}

/** Approximate bytes of a template. */
function sizeOf(template: Pick<StoredContent, 'content' | 'text'> | undefined): number {
  return (template?.content.length ?? 0) + (template?.text?.length ?? 0)
}

function templateKnown(submission: Submission, facts: Facts, lookups: Lookups): undefined | Promise<Facts> {
  if (submission.templateId === undefined || facts.template) return undefined
  return findTemplate(submission, lookups).then((template) => {
    if (!template) throw new ServiceError('templateUnknown')
    return { template }
  })
}

function variablesGiven({ envelopes, nameOf }: Submission, { template }: Facts): void {
  if (!template || template.variables.length === 0) return
  for (const [at, { attributes }] of envelopes.entries()) {
    const [error] = refusalsOf(template.variables, attributes, (name) => nameOf('attributes', at, name))
    if (error) throw error
  }
}

function contentNamed(given: Submission, { template, filled, refusal }: Facts): void {
  const { content } = filled?.submission ?? given
  if (template || refusal || content.kind === 'mime') return
  const others = content.alternatives ?? []
  const named = [content.html, content.text, ...others.map(({ text }) => text)].some(
    (text) => text !== undefined && text.trim() !== '',
  )
  if (!named) throw new ServiceError('contentMissing')
}

function mergedContentFits(submission: Submission, { template }: Facts): void | Promise<void> {
  return checkMergedContent(submission, template)
}

/** v3 accepts unknown templates, and those from which no message can be built, and drops the deliveries (v3 contract 2.5). */
function keyedTemplateFound(submission: Submission, _: Facts, lookups: Lookups): undefined | Promise<Facts> {
  const { templateKey, principal } = submission
  if (templateKey === undefined) return undefined
  return lookups.findKeyedTemplate(principal.account.id, templateKey.toLowerCase()).then((template): Facts => {
    if (!template) return { refusal: 'template' }
    const { templateName, problem } = template
    if (problem !== null) return { refusal: 'rendering', refusalProblem: problem.replaceAll('\n', '; '), templateName }
    lookups.hold(templateSize(template))
    return { templateName, filled: fillTemplate(submission, template) }
  })
}

function batchOpen({ batchId, principal }: Submission, _: Facts, { isOpenBatch }: Lookups): void | Promise<void> {
  if (batchId === undefined) return
  return isOpenBatch(principal.account.id, batchId).then((open) => {
    if (!open) throw new ServiceError('batchUnknown')
  })
}

function poolKnown({ settings: { pool } }: Submission, _: Facts, { mayUsePool }: Lookups): void | Promise<void> {
  if (pool === undefined) return
  return Promise.resolve(mayUsePool(pool)).then((may) => {
    if (!may) throw new ServiceError('poolUnknown')
  })
}

function substitutedFit(submission: Submission, { filled }: Facts): void | Promise<void> {
  return checkSubstituted(filled?.submission ?? submission)
}

function mergedHeadersFit(submission: Submission, { template }: Facts): void | Promise<void> {
  return checkMergedHeaders(submission, template)
}

function attachmentsKnown(submission: Submission, facts: Facts, lookups: Lookups): undefined | Promise<Facts> {
  return submission.attachmentIds.length === 0 ? undefined : findAttachments(submission, facts, lookups)
}

async function findAttachments(submission: Submission, { template }: Facts, lookups: Lookups): Promise<Facts> {
  const { attachmentIds, principal } = submission
  const ids = new Set(attachmentIds.map((id) => (/^\d{1,10}$/.test(id) ? Number(id) : 0)))
  const files = await lookups.findAttachments(principal.account.id, [...ids])
  if (files.length < ids.size) throw new ServiceError('attachmentUnknown')
  // A few bytes of ids can refer to gigabytes, so the size of the message is checked before files are read.
  const stored = files.reduce((sum, { size }) => sum + size, 0)
  if (stored + ownSize(submission) + sizeOf(template) > LIMITS.messageSize) {
    throw new ServiceError('tooLarge', { values: { limit: '30 MB' } })
  }
  lookups.hold(stored)
  return { attachments: await lookups.readAttachments(files) }
}

/** Returns the size in bytes of the files in the call. */
function ownSize({ attachments, envelopes }: Submission): number {
  const files = [...attachments, ...envelopes.flatMap(({ attachments }) => attachments)]
  return files.reduce((sum, { content }) => sum + content.length, 0)
}

function scheduleNear({ scheduledAt, envelopes, nameOf }: Submission, _: Facts, { now }: Lookups): void {
  requireNear(scheduledAt, now, () => nameOf('scheduledAt'))
  for (const [at, own] of envelopes.entries()) requireNear(own.scheduledAt, now, () => nameOf('scheduledAt', at))
}

function requireNear(scheduledAt: Date | undefined, now: () => number, parameter: () => string): void {
  if (!scheduledAt) return
  // Times in the past mean immediately; times before 1970 are mistakes.
  if (!(scheduledAt.getTime() >= 0) || scheduledAt.getTime() > now() + LIMITS.scheduleDays * 86_400_000) {
    throw invalidParameter(
      parameter(),
      `must be a time like 2026-01-05T10:11:12Z, or Unix seconds, at most ${LIMITS.scheduleDays} days ahead`,
    )
  }
}
