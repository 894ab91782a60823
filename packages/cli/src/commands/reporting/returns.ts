import { open } from 'node:fs/promises'
import {
  type Core,
  isTemporary,
  type KeptReturn,
  NO_EFFECT,
  parseMessageId,
  RETURN_KINDS,
  type RereadCount,
  type ReturnKind,
  type ReturnResult,
  type TakenReturn,
} from '@postrider/core'
import {
  type Answer,
  type Call,
  type Command,
  CommandError,
  TemporaryError,
  textOption,
  UsageError,
} from '../../command.ts'
import { tableOr } from '../../table.ts'
import { coreCommand } from '../core-command.ts'
import { effectText, listAnswer, showAnswer } from './return-answers.ts'

/** Bytes of a message that are read; the rest of a larger one is the returned message. */
const MAX_OCTETS = 10 * 1024 * 1024
const DAY_MS = 86_400_000
/** Days of kept returns that are read again. */
const REREAD_DAYS = 7
/** Kinds of which contents are kept. */
const REREADABLE: readonly ReturnKind[] = ['unrecognised', 'failed', 'letter', 'complaint', 'opt-out']
export const returnCommands: readonly Command[] = [
  {
    name: 'returns take',
    usage: '[--recipient ADDRESS] [FILE]',
    summary: 'Take a message that came back, and record what it reports',
    detail:
      'It is a bounce report or a complaint, read from FILE or stdin. For the pipe transport of a mail server: the exit status is ' +
      '75 if it must be tried again, 0 otherwise, also without an effect',
    parameters: { recipient: 'Address that it was sent to (default: from Delivered-To, X-Original-To and To)' },
    examples: ['returns take report.eml'],
    async run(call) {
      const raw = await readMessage(call.words[0])
      const recipient = textOption(call, 'recipient')
      return toAnswer(await take(call, { raw, recipients: recipient === undefined ? undefined : [recipient] }))
    },
  },
  coreCommand({
    name: 'returns list',
    usage: '[--kind KIND] [--from DOMAIN] [--message ID] [--since TIME] [--limit N] [--after ID]',
    summary: 'List mail that came back, newest first',
    parameters: {
      kind: `Only this kind: ${RETURN_KINDS.join(', ')}`,
      from: 'Only from senders that name this domain',
      message: 'Only what came back for the message with this id',
      after: 'Only after the one with this id, for the next page',
    },
    examples: ['returns list --kind letter'],
    prepare: ({ kind, from, message, since, after, limit }) => {
      const filter = {
        kind: kindNamed(kind, RETURN_KINDS),
        reporter: from?.toLowerCase(),
        messageId: messageOf(message),
        since,
        before: after && idOf(after, '--after'),
        limit,
      }
      return async ({ returns }) => listAnswer(await returns.list(filter), limit)
    },
  }),
  coreCommand({
    name: 'returns show',
    usage: '[--raw] ID',
    summary: 'Show what followed from a message that came back, and its content if it is kept',
    detail: 'The content is kept of letters, and of what could not be read',
    parameters: { raw: 'Show only the content, unchanged' },
    hasTextId: true,
    prepare: ({ ID, raw }) => {
      const id = idOf(ID, 'id')
      return async (core) => showAnswer(await requireReturn(core, id), raw)
    },
  }),
  coreCommand({
    name: 'returns reread',
    usage: '[--kind KIND] [--since TIME]',
    summary: 'Read kept messages again, and record what they report',
    detail: 'This is useful after an update with new rules',
    parameters: {
      kind: `Only this kind: ${REREADABLE.join(', ')}`,
      since: `Only from this ISO 8601 time on (default: ${REREAD_DAYS} days ago)`,
    },
    prepare: (given, call) => {
      const kind = kindNamed(given.kind, REREADABLE)
      const kinds = kind === undefined ? REREADABLE : [kind]
      return async ({ clock, returns }) => {
        const since = given.since ?? new Date(clock.now() - REREAD_DAYS * DAY_MS)
        const told = await returns.reread({ kinds, since }, (count) => {
          if (call.stderr.isTTY) call.stderr.write(`${progress(count)}\n`)
        })
        return { data: told, text: progress(told) }
      }
    },
  }),
  coreCommand({
    name: 'returns delete',
    destroys: true,
    usage: '--kind KIND [--from DOMAIN]',
    summary: 'Delete what is stored of a kind of returns, for example letters',
    parameters: { kind: `Kind to delete: ${RETURN_KINDS.join(', ')}`, from: 'Only from senders that name this domain' },
    examples: ['returns delete --kind letter --from spam.example'],
    prepare: (given) => {
      const kind = kindNamed(given.kind, RETURN_KINDS) as ReturnKind
      return async ({ returns }) => {
        const deleted = await returns.delete(kind, given.from?.toLowerCase())
        return { data: { deleted }, text: `${deleted} deleted` }
      }
    },
  }),
  coreCommand({
    name: 'returns feedback',
    usage: '',
    summary: 'Show the stored complaints by the domain that reports them',
    detail: 'Unmatched are those without a valid mark, from which nothing followed',
    run: async (core) => {
      const reporters = await core.returns.feedback()
      const rows = reporters.map((one) => [one.reporter, one.complaints, one.unmatched, one.firstAt, one.lastAt])
      const text = tableOr('no complaints', ['from', 'complaints', 'unmatched', 'first', 'last'], rows)
      return { data: reporters, text }
    },
  }),
]

async function take(call: Call, taken: TakenReturn): Promise<ReturnResult> {
  try {
    const result = await call.withCore((core) => core.returns.take(taken))
    if (isTemporary(result.why)) throw new TemporaryError(NO_EFFECT[result.why])
    return result
  } catch (error) {
    // A mail server takes any other status for final, and the report would be lost.
    throw error instanceof TemporaryError ? error : new TemporaryError((error as Error).message)
  }
}

/** Throws {@link CommandError} if the file cannot be read. */
async function readMessage(file: string | undefined): Promise<Buffer> {
  if (file === undefined) return firstOctets(process.stdin)
  try {
    await using handle = await open(file)
    return await firstOctets(handle.createReadStream())
  } catch (error) {
    throw new CommandError(`${file} cannot be read (${(error as NodeJS.ErrnoException).code})`)
  }
}

async function firstOctets(stream: AsyncIterable<Buffer | string>): Promise<Buffer> {
  const pieces: Buffer[] = []
  let length = 0
  // To the end, because a writer whose pipe is closed fails.
  for await (const piece of stream) {
    if (length < MAX_OCTETS) pieces.push(Buffer.from(piece))
    length += piece.length
  }
  return Buffer.concat(pieces).subarray(0, MAX_OCTETS)
}

/** Throws {@link UsageError}. */
function kindNamed(text: string | undefined, kinds: readonly ReturnKind[]): ReturnKind | undefined {
  if (text === undefined) return undefined
  const kind = kinds.find((one) => one === text)
  if (!kind) throw new UsageError(`--kind must be one of ${kinds.join(', ')} (got "${text}")`)
  return kind
}

/** Throws {@link UsageError}. */
function messageOf(text: string | undefined): string | undefined {
  if (text === undefined) return undefined
  const id = parseMessageId(text)
  if (id === undefined) throw new UsageError(`--message must be the id of a message (got "${text}")`)
  return id
}

/** Throws {@link UsageError}. */
function idOf(text: string, what: string): string {
  if (!/^[0-9a-f]{8}(-?[0-9a-f]{4}){3}-?[0-9a-f]{12}$/i.test(text)) {
    throw new UsageError(`${what} must be an id from "returns list" (got "${text}")`)
  }
  return text
}

async function requireReturn(core: Core, id: string): Promise<KeptReturn> {
  const found = await core.returns.show(id)
  if (!found) throw new CommandError(`return ${id} not found; "returns list" lists those that are stored`)
  return found
}

function toAnswer(result: ReturnResult): Answer {
  const { kind, delivery } = result
  const about = delivery ? ` (message ${delivery.messageId}, recipient ${delivery.recipientNo})` : ''
  return { data: result, text: `${kind}: ${effectText(result)}${about}` }
}

function progress({ read, recognised, effects, inFlight }: RereadCount): string {
  const again = inFlight > 0 ? `; ${inFlight} must be read once more, because an attempt is in progress` : ''
  return `${read} read again: ${recognised} recognised, ${effects} with an effect${again}`
}
