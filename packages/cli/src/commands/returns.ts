import { open } from 'node:fs/promises'
import { NO_EFFECT, type ReturnResult, type TakenReturn } from '@postrider/core'
import { type Answer, type Call, type Command, CommandError, TemporaryError, textOption } from '../command.ts'

/** Bytes of a message that are read; the rest of a larger one is the returned message. */
const MAX_OCTETS = 10 * 1024 * 1024

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
      return toAnswer(await take(call, { raw, recipients: recipient === undefined ? undefined : [recipient] }))
    },
  },
]

async function take(call: Call, taken: TakenReturn): Promise<ReturnResult> {
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
