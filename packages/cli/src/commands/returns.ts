import { open } from 'node:fs/promises'
import { NO_EFFECT, type ReturnResult } from '@postrider/core'
import { type Answer, type Call, type Command, CommandError, TemporaryError, textOption } from '../command.ts'

/** Bytes of a message that are read; the rest of a larger one is the returned message. */
const MAX_OCTETS = 10 * 1024 * 1024
/** Header fields in which servers note the recipients of a message that they deliver. */
const RECIPIENT_FIELDS = /^(?:delivered-to|x-original-to|x-envelope-to|envelope-to|to)$/i

export const returnCommands: readonly Command[] = [
  {
    name: 'returns take',
    usage: '[--recipient ADDRESS] [FILE]',
    summary:
      'Take a message that came back (a bounce report or a complaint) from FILE or stdin, and record what it reports. --recipient: the address ' +
      'that it was sent to; otherwise from Delivered-To, X-Original-To and To. For the pipe transport of a mail server: exit status 75 if it ' +
      'must be tried again, 0 otherwise, also without an effect',
    words: 1,
    options: { recipient: { type: 'string' } },
    async run(call) {
      const raw = await readMessage(call.words[0])
      const recipient = textOption(call, 'recipient')
      const recipients = recipient === undefined ? recipientsOf(raw) : [recipient]
      return toAnswer(await take(call, { raw, recipients }))
    },
  },
]

async function take(call: Call, taken: { readonly raw: Buffer; readonly recipients: string[] }): Promise<ReturnResult> {
  try {
    const result = await call.withCore((core) => core.returns.take(taken))
    if (result.why === 'in-flight') throw new TemporaryError(NO_EFFECT['in-flight'])
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

/** The addresses in these fields of the header, which may be folded. */
function recipientsOf(raw: Buffer): string[] {
  const [head = ''] = raw.toString('latin1', 0, 64 * 1024).split(/\r?\n\r?\n/, 1)
  return head
    .replace(/\r?\n[ \t]/g, ' ')
    .split(/\r?\n/)
    .filter((line) => RECIPIENT_FIELDS.test(line.slice(0, Math.max(line.indexOf(':'), 0))))
    .flatMap((line) => line.slice(line.indexOf(':') + 1).split(/[\s,;<>]/))
    .filter((word) => word.includes('@'))
    .slice(0, 50)
}

const EFFECTS = {
  bounced: 'the delivery has bounced',
  complained: 'a complaint was recorded, and the recipient is suppressed',
  unsubscribed: 'the recipient is unsubscribed',
} as const

function toAnswer(result: ReturnResult): Answer {
  const { kind, delivery, effect, why } = result
  const text = effect === 'none' ? `no effect: ${why === null ? '' : NO_EFFECT[why]}` : EFFECTS[effect]
  const about = delivery ? ` (message ${delivery.messageId}, recipient ${delivery.recipientNo})` : ''
  return { data: result, text: `${kind}: ${text}${about}` }
}
