import {
  createSubstituter,
  hasTooMany,
  inTurns,
  type Stoppable,
  type Submission,
  type SubmittedEnvelope,
  TOO_MANY_KEYS,
} from '@postrider/core'
import { ENTRY, MOST_COPIED, sizeOf } from './copies.ts'
import { type SmtpApi, type SmtpApiRecipient, substitutionsOf } from './smtpapi.ts'
import { settingsOf, templateKeyOf } from './smtpapi-settings.ts'
import type { SmtpApiProblem } from './smtpapi-values.ts'
import { type Apart, takeApart, type WholeMessage } from './take-apart.ts'

/** What X-SMTPAPI is laid upon. */
export interface Steered {
  /** With the RCPT recipients, as the message would go without the field. */
  readonly submission: Submission
  readonly message: WholeMessage
  readonly recipients: readonly string[]
  readonly now: Date
}

/** Of one recipient's unique_args, tags resolved (v3 contract 8.2). */
const MOST_ARGS = 10_000

/** What can't be done with so many recipients. */
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
  if (octets > MOST_COPIED) problems.push({ path: 'sub', problem: 'with so many recipients it is too large' })
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
      problem: 'cannot be combined with another bypass',
    })
  }
  return problems
}

/**
 * The submission as X-SMTPAPI wants it. It stays MIME where only what is beside its content is asked for, and where it can't be
 * taken apart without loss; else it is composed anew for each recipient. A problem: what its recipients' values come to.
 *
 * Throws messageMalformed, overloaded.
 */
export async function steer(steered: Steered, api: SmtpApi): Promise<Submission | SmtpApiProblem> {
  const { submission, now, message } = steered
  const recipients = recipientsOf(api, steered.recipients)
  const args = await inTurns(argsOf(api, recipients.length))
  if ('problem' in args) return args
  const key = templateKeyOf(api)
  const wanted = key !== undefined || (api.sub?.size ?? 0) > 0
  const mime = submission.content.kind === 'mime'
  const apart = wanted && mime ? await takeApart(message) : undefined
  const composed = !mime || apart !== undefined
  const templateKey = composed ? key : undefined
  const named = (api.to?.length ?? 0) > 0
  const own = named || api.sendEachAt !== undefined || composed
  const common = {
    ...submission,
    tags: [...new Set([...submission.tags, ...(api.categories ?? [])])],
    settings: { ...submission.settings, ...settingsOf(api) },
    scheduledAt: later(api.sendAt, now),
    ...(api.batchId === undefined ? {} : { batchId: api.batchId }),
    ...(templateKey === undefined ? {} : { templateKey, templateId: undefined }),
    ...(composed && api.section?.size ? { sections: Object.fromEntries(api.section) } : {}),
    ...(apart ? composedOf(submission, apart) : {}),
    envelopes: await inTurns(envelopesOf({ recipients, own, base: submission, api, apart, composed, now, args })),
  }
  const { content } = common
  return content.kind === 'mime' && named ? { ...common, content: { ...content, ownTo: true } } : common
}

function recipientsOf({ to }: SmtpApi, recipients: readonly string[]): readonly SmtpApiRecipient[] {
  return to && to.length > 0 ? to : recipients.map((email) => ({ email, name: '' }))
}

/** What has passed means at once. */
function later(at: Date | undefined, now: Date): Date | undefined {
  return at && at > now ? at : undefined
}

function composedOf({ from }: Submission, apart: Apart): Partial<Submission> {
  const { subject, fromName, replyTo, content, attachments, headers } = apart
  const [first, ...others] = replyTo
  const bare = first && others.length === 0 && first.name === ''
  return {
    ...{ content: { ...content, headers }, attachments, literal: true, subject },
    from: from && { ...from, name: fromName },
    ...(bare ? { replyTo: first.email } : {}),
    ...(first && !bare ? { replyToList: replyTo } : {}),
  }
}

interface Copies {
  readonly recipients: readonly SmtpApiRecipient[]
  /** Each recipient's is another. */
  readonly own: boolean
  readonly base: Submission
  readonly api: SmtpApi
  readonly apart: Apart | undefined
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
  const [first] = base.envelopes as [SubmittedEnvelope]
  const { email } = recipient
  const name = recipient.name || apart?.names.get(email.toLowerCase())
  const scheduledAt = later(api.sendEachAt?.[at], now)
  return {
    ...first,
    to: [email],
    bcc: at === 0 ? first.bcc : [],
    ...(apart?.messageId === undefined ? {} : { messageId: apart.messageId }),
    ...(name ? { names: new Map([[email, name]]) } : {}),
    ...(scheduledAt ? { scheduledAt } : {}),
    ...(composed && api.sub?.size ? { substitutions: substitutionsOf(api, at) } : {}),
    ...args.of(at),
  }
}

interface Args {
  /** What the copy of recipient number `at` has of them. */
  readonly of: (at: number) => Pick<SubmittedEnvelope, 'customArgs'>
}

const TOO_LARGE = { path: 'unique_args', problem: `with the values of sub it must have at most ${MOST_ARGS} octets` }

/** unique_args, in whose values the tags of `sub` stand for the recipient's own. */
function* argsOf(api: SmtpApi, count: number): Stoppable<Args | SmtpApiProblem> {
  const { uniqueArgs, sub } = api
  if (!uniqueArgs?.size) return { of: () => ({}) }
  const tags = [...(sub?.keys() ?? [])]
  const substituter = createSubstituter(tags)
  const resolve = function* (values: Readonly<Record<string, string>>): Stoppable<Record<string, string> | undefined> {
    const resolved: Record<string, string> = {}
    const room = { left: MOST_ARGS, idle: 0 }
    for (const [key, text] of uniqueArgs) {
      const value = yield* substituter.substitute(text, values, room)
      if (value === undefined) return undefined
      resolved[key] = value
    }
    return resolved
  }
  const without = yield* resolve(Object.fromEntries(tags.map((tag) => [tag, ''])))
  const personal = [...uniqueArgs].some(([key, value]) => without?.[key] !== value)
  const all: { customArgs: Record<string, string> }[] = []
  let octets = 0
  for (let at = 0; at < count; at++) {
    if (at === 0 || personal) {
      const customArgs = yield* resolve(personal ? substitutionsOf(api, at) : {})
      if (!customArgs) return TOO_LARGE
      all.push({ customArgs })
    }
    const args = Object.entries(all.at(-1)?.customArgs ?? {})
    const own = sizeOf(args)
    octets += own
    if (own - args.length * ENTRY > MOST_ARGS) return TOO_LARGE
    if (octets > MOST_COPIED) return { path: 'unique_args', problem: 'with so many recipients it is too large' }
    yield
  }
  return { of: (at) => all[personal ? at : 0] ?? {} }
}
