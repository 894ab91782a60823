import { hasTooMany, TOO_MANY_KEYS } from '../../content/substitution/sections.ts'
import { createSubstituter } from '../../content/substitution/substitutions.ts'
import { parseAddress } from '../../mime/address.ts'
import { inTurns, type Stoppable } from '../../platform/concurrency/turns.ts'
import { defined } from '../../platform/defined.ts'
import type { StatusNotifications } from '../../submission/status-notifications.ts'
import type { Submission, SubmittedEnvelope } from '../../submission/submission.ts'
import { ENTRY, MAX_COPIED_BYTES, sizeOf } from '../copies.ts'
import { type DecomposedMessage, decomposeMime, replyToOf, type WholeMessage } from '../decompose-mime.ts'
import { type SmtpApi, type SmtpApiRecipient, substitutionsOf } from './smtpapi.ts'
import { settingsOf, templateKeyOf } from './smtpapi-settings.ts'
import type { SmtpApiProblem } from './smtpapi-values.ts'

/** The message that X-SMTPAPI is applied to. */
export interface SmtpApiTarget {
  /** The submission to the RCPT recipients, without X-SMTPAPI. */
  readonly submission: Submission
  /** Needed if its content is a MIME message. */
  readonly message?: WholeMessage
  readonly recipients: readonly string[]
  readonly now: Date
}

/** Maximum bytes of one recipient's unique_args, after substitution (v3 contract 8.2). */
const MAX_ARGS_BYTES = 10_000

/** Problems that depend on the number of recipients. */
export function problemsOf(api: SmtpApi, recipients: readonly string[]): SmtpApiProblem[] {
  const count = recipientsOf(api, recipients).length
  const problems: SmtpApiProblem[] = []
  if (api.sendEachAt && api.sendEachAt.length !== count) {
    problems.push({ path: 'send_each_at', problem: 'must have one time per recipient' })
  }
  let octets = 0
  for (const [tag, values] of api.sub ?? []) {
    octets += (Buffer.byteLength(tag) + ENTRY) * count
    for (const value of values.slice(0, count)) octets += Buffer.byteLength(value)
  }
  if (octets > MAX_COPIED_BYTES) problems.push({ path: 'sub', problem: 'too large for this number of recipients' })
  for (const [path, tags] of [
    ['sub', api.sub],
    ['section', api.section],
  ] as const) {
    if (hasTooMany(tags?.keys() ?? [])) problems.push({ path, problem: TOO_MANY_KEYS })
  }
  const { bypassListManagement, ...others } = api.filters
  const named = others.bypassSpamManagement ?? others.bypassBounceManagement ?? others.bypassUnsubscribeManagement
  if (bypassListManagement && named) {
    problems.push({
      path: 'filters.bypass_list_management',
      problem: 'cannot be combined with another bypass filter',
    })
  }
  return problems
}

/**
 * Applies X-SMTPAPI to the submission. The content stays MIME if the field does not concern it, and if it cannot be decomposed without
 * loss; otherwise it is composed for each recipient. Returns a problem if one appears only after substitution.
 *
 * Throws messageMalformed, overloaded.
 */
export async function applySmtpApi(target: SmtpApiTarget, api: SmtpApi): Promise<Submission | SmtpApiProblem> {
  const { submission, now, message } = target
  const recipients = recipientsOf(api, target.recipients)
  const args = await inTurns(argsOf(api, recipients.length))
  if ('problem' in args) return args
  const key = templateKeyOf(api)
  const wanted = key !== undefined || (api.sub?.size ?? 0) > 0
  const mime = submission.content.kind === 'mime'
  const apart = wanted && mime && message ? await decomposeMime(message) : undefined
  const composed = !mime || apart !== undefined
  const templateKey = composed ? key : undefined
  const named = (api.to?.length ?? 0) > 0
  const own = named || api.sendEachAt !== undefined || (wanted && composed)
  const common = {
    ...submission,
    tags: [...new Set([...submission.tags, ...(api.categories ?? [])])],
    settings: { ...submission.settings, ...settingsOf(api) },
    scheduledAt: later(api.sendAt, now),
    ...defined({ batchId: api.batchId }),
    ...(api.uniqueArgs?.size ? { nameOf: withArgs(submission.nameOf) } : {}),
    ...(templateKey === undefined ? {} : { templateKey, templateId: undefined }),
    ...(composed && api.section?.size ? { sections: Object.fromEntries(api.section) } : {}),
    ...(apart ? composedOf(submission, apart) : {}),
    ...(named ? defined({ notifications: await inTurns(notificationsOf(submission, recipients)) }) : {}),
    envelopes: await inTurns(envelopesOf({ recipients, own, base: submission, api, apart, composed, now, args })),
  }
  const { content } = common
  return content.kind === 'mime' && named ? { ...common, content: { ...content, ownTo: true } } : common
}

/** They take the place of those in X-METADATA. */
function withArgs(nameOf: Submission['nameOf']): Submission['nameOf'] {
  return (field, ...place) => (field === 'customArgs' ? 'X-SMTPAPI.unique_args' : nameOf(field, ...place))
}

function recipientsOf({ to }: SmtpApi, recipients: readonly string[]): readonly SmtpApiRecipient[] {
  return to && to.length > 0 ? to : recipients.map((email) => ({ email, name: '' }))
}

/** Recipients that only `to` names are notified of as the first one of RCPT is: clients give that one in their place. */
function* notificationsOf(
  { notifications }: Submission,
  recipients: readonly SmtpApiRecipient[],
): Stoppable<StatusNotifications | undefined> {
  if (!notifications) return undefined
  const all = new Map(notifications.recipients)
  const [first] = all.values()
  for (const { email } of recipients) {
    const address = parseAddress(email)?.text ?? email
    if (!all.has(address)) all.set(address, { notify: first?.notify })
    yield
  }
  return { ...notifications, recipients: all }
}

/** A time in the past means immediately. */
function later(at: Date | undefined, now: Date): Date | undefined {
  return at && at > now ? at : undefined
}

function composedOf({ from }: Submission, apart: DecomposedMessage): Partial<Submission> {
  const { subject, fromName, replyTo, content, attachments, headers } = apart
  return {
    content: { ...content, headers },
    attachments,
    literal: true,
    subject,
    from: from && { ...from, name: fromName },
    ...replyToOf(replyTo),
  }
}

interface Copies {
  readonly recipients: readonly SmtpApiRecipient[]
  /** Whether each recipient gets a separate copy. */
  readonly own: boolean
  readonly base: Submission
  readonly api: SmtpApi
  readonly apart: DecomposedMessage | undefined
  readonly composed: boolean
  readonly now: Date
  readonly args: Args
}

function* envelopesOf(copies: Copies): Stoppable<SubmittedEnvelope[]> {
  const { recipients, own, base, args } = copies
  if (!own) return base.envelopes.map((envelope) => ({ ...envelope, ...args.of(0) }))
  const envelopes: SubmittedEnvelope[] = []
  for (const [at, recipient] of recipients.entries()) {
    envelopes.push(envelopeOf(copies, recipient, at))
    yield
  }
  return envelopes
}

function envelopeOf(
  { base, api, apart, composed, now, args }: Copies,
  recipient: SmtpApiRecipient,
  at: number,
): SubmittedEnvelope {
  const [{ names, ...first }] = base.envelopes as [SubmittedEnvelope]
  const { email } = recipient
  const name = recipient.name || (apart?.names.get(email.toLowerCase()) ?? names?.get(email))
  const scheduledAt = later(api.sendEachAt?.[at], now)
  // Cc and Bcc get one copy, the first.
  const cc = at === 0 ? first.cc : []
  const shown = [[email, name], ...cc.map((one) => [one, names?.get(one)])].filter(([, one]) => one) as [
    string,
    string,
  ][]
  return {
    ...first,
    to: [email],
    cc,
    bcc: at === 0 ? first.bcc : [],
    ...defined({ messageId: apart?.messageId }),
    ...(shown.length > 0 ? { names: new Map(shown) } : {}),
    ...(scheduledAt ? { scheduledAt } : {}),
    ...(composed && api.sub?.size ? { substitutions: substitutionsOf(api, at) } : {}),
    ...args.of(at),
  }
}

interface Args {
  /** The arguments of the copy of recipient number `at`. */
  readonly of: (at: number) => Pick<SubmittedEnvelope, 'customArgs'>
}

const TOO_LARGE = { path: 'unique_args', problem: `must have at most ${MAX_ARGS_BYTES} bytes after substitution` }

/** unique_args; the tags of `sub` in their values are replaced by the recipient's values. */
function* argsOf(api: SmtpApi, count: number): Stoppable<Args | SmtpApiProblem> {
  const { uniqueArgs, sub } = api
  if (!uniqueArgs?.size) return { of: () => ({}) }
  const tags = [...(sub?.keys() ?? [])]
  const substituter = createSubstituter(tags)
  const resolve = function* (values: Readonly<Record<string, string>>): Stoppable<Record<string, string> | undefined> {
    const resolved: Record<string, string> = {}
    const budget = { left: MAX_ARGS_BYTES, idle: 0 }
    for (const [key, text] of uniqueArgs) {
      const value = yield* substituter.substitute(text, values, budget)
      if (value === undefined) return undefined
      resolved[key] = value
    }
    return resolved
  }
  const without = yield* resolve(Object.fromEntries(tags.map((tag) => [tag, ''])))
  const isPerRecipient = [...uniqueArgs].some(([key, value]) => without?.[key] !== value)
  const all: { customArgs: Record<string, string> }[] = []
  let octets = 0
  for (let at = 0; at < count; at++) {
    if (at === 0 || isPerRecipient) {
      const customArgs = yield* resolve(isPerRecipient ? substitutionsOf(api, at) : {})
      if (!customArgs) return TOO_LARGE
      all.push({ customArgs })
    }
    const args = Object.entries(all.at(-1)?.customArgs ?? {})
    const own = sizeOf(args)
    octets += own
    if (own - args.length * ENTRY > MAX_ARGS_BYTES) return TOO_LARGE
    if (octets > MAX_COPIED_BYTES) return { path: 'unique_args', problem: 'too large for this number of recipients' }
    yield
  }
  return { of: (at) => all[isPerRecipient ? at : 0] ?? {} }
}
