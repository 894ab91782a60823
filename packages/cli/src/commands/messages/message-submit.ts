import { readFileSync, statSync } from 'node:fs'
import { LIMITS } from '@postrider/core'
import {
  type Answer,
  type Call,
  type Command,
  CommandError,
  requiredWord,
  textOption,
  textsOption,
} from '../../command.ts'
import { submitRaw } from '../../test-message.ts'
import { apiKeyOf } from '../api-key.ts'

export const messageSubmitCommands: readonly Command[] = [
  {
    name: 'message submit',
    usage: 'FILE [--from ADDRESS] [--to ADDRESS]... [--idempotency-key TEXT] [--key KEY|-]',
    summary: 'Send a MIME message from a file through the running service, as over SMTP',
    parameters: {
      FILE: 'Path of the message, as a program writes it for SMTP or a mail reader saves it',
      from: "Sender of the envelope (default: the message's From)",
      to: 'Recipient of the envelope (default: those in To, Cc and Bcc)',
      'idempotency-key': 'A call with the same text does not send it twice',
      key: 'API key (default: POSTRIDER_API_KEY); "-" reads it from stdin',
    },
    examples: ['message submit berth.eml --to you@example.com'],
    run: submit,
  },
]

async function submit(call: Call): Promise<Answer> {
  const message = read(requiredWord(call, 'file'))
  const key = await apiKeyOf(call, 'POSTRIDER_API_KEY')
  const data = await submitRaw(call.config, {
    key,
    message,
    from: textOption(call, 'from'),
    to: textsOption(call, 'to'),
    idempotencyKey: textOption(call, 'idempotency-key'),
  })
  const { message_id: id, corrected, problems } = data
  const lines = [
    `message ${id} accepted`,
    ...(corrected === null ? [] : [`corrected: ${corrected}`]),
    ...problems.map(({ path, problem }) => `X-SMTPAPI ${path}: ${problem}`),
    `follow it with: postrider message show ${id}`,
  ]
  const failure = problems.length > 0 ? { failure: 'accepted and dropped: its X-SMTPAPI field is wrong' } : {}
  return { data, text: lines.join('\n'), ...failure }
}

/** Throws {@link CommandError}. */
function read(file: string): Buffer {
  try {
    const stat = statSync(file)
    // A device or a pipe may never end.
    if (!stat.isFile()) throw new CommandError(`${file} is not a file`)
    if (stat.size > LIMITS.messageSize)
      throw new CommandError(`${file} has ${stat.size} bytes; a message has at most ${LIMITS.messageSize}`)
    return readFileSync(file)
  } catch (error) {
    if (error instanceof CommandError) throw error
    throw new CommandError(`${file} cannot be read: ${(error as NodeJS.ErrnoException).code}`)
  }
}
