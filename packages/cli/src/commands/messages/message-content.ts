import { type Core, type Principal, SCOPES, type ShownBody } from '@postrider/core'
import { type Command, UsageError } from '../../command.ts'
import { table } from '../../table.ts'
import { coreCommand } from '../core-command.ts'
import { writeOut } from '../write-out.ts'
import { messageNotFound } from './message-not-found.ts'

const COPY = 'Number of the recipient whose copy is meant (default: the first one); "message show" lists them'

/** One recipient's copy of a message. */
export const messageContentCommands: readonly Command[] = [
  coreCommand({
    name: 'message body',
    usage: 'ID [--recipient-no N]',
    hasTextId: true,
    summary: "Show one recipient's copy of a message: its texts, header and attachments",
    detail: 'Its links are not tracked, so reading it counts as nothing',
    parameters: { 'recipient-no': COPY },
    run: async (core, { ID: id, 'recipient-no': recipientNo }) => {
      const body = await core.messages.body({ ...(await named(core, id)), recipientNo })
      return { data: body, text: bodyText(body) }
    },
  }),
  coreCommand({
    name: 'message download',
    usage: 'ID --out FILE [--recipient-no N] [--attachment N]',
    hasTextId: true,
    summary: "Write one recipient's copy of a message as it was sent, without the signature, or an attachment of it",
    parameters: {
      out: 'File to write',
      'recipient-no': COPY,
      attachment: 'Number of the attachment; "message body" lists them',
    },
    examples: ['message download 01a20468da3678e4ae0150514402a171 --out message.eml'],
    run: async (core, { ID: id, out: file, 'recipient-no': recipientNo, attachment: index }) => {
      const query = { ...(await named(core, id)), recipientNo }
      const content =
        index === undefined
          ? await core.messages.source(query)
          : (await core.messages.attachment({ ...query, index })).content
      const bytes = await writeOut(file, once(content))
      return { data: { file, bytes }, text: `${bytes} bytes written to ${file}` }
    },
  }),
  coreCommand({
    name: 'message resend',
    usage: 'ID [--recipient-no N]... [--to ADDRESS] [--idempotency-key TEXT]',
    hasTextId: true,
    summary: 'Send an accepted message again, as a new message with the same content',
    parameters: {
      'recipient-no': 'Only to the recipient with this number (default: all)',
      to: 'A corrected address in place of that of the recipient, who must be the only one chosen',
      'idempotency-key': 'A call with the same text does not send it twice',
    },
    prepare: ({ ID: id, 'recipient-no': numbers, to, 'idempotency-key': idempotencyKey }) => {
      const recipientNos = recipientNumbers(numbers)
      return async (core) => {
        const { accountId, messageId } = await named(core, id)
        const accepted = await core.messages.resend({
          principal: (await core.auth.principalOfUser(accountId, SCOPES)) as Principal,
          messageId,
          recipientNos,
          to,
          clientAddress: '127.0.0.1',
          idempotencyKey,
        })
        return {
          data: { messageId: accepted.messageId, resentFrom: messageId },
          text: `message ${accepted.messageId} is sent\nfollow it with: postrider message show ${accepted.messageId}`,
        }
      }
    },
  }),
]

/** Throws CommandError. */
async function named({ messages }: Core, id: string): Promise<{ accountId: number; messageId: string }> {
  const details = await messages.show(id)
  if (!details) throw messageNotFound(id)
  return { accountId: details.accountId, messageId: details.id }
}

/** Throws UsageError. Returns undefined if no recipient is chosen. */
export function recipientNumbers(texts: readonly string[]): number[] | undefined {
  return texts.length === 0 ? undefined : [...new Set(texts.map(numberOf))].sort((a, b) => a - b)
}

function numberOf(text: string): number {
  if (!/^\d{1,6}$/.test(text)) throw new UsageError(`--recipient-no must be a number (got "${text}")`)
  return Number(text)
}

async function* once(content: Uint8Array) {
  yield content
}

function bodyText({ recipient, headers, text, html, attachments }: ShownBody): string {
  const files = attachments.map(({ index, fileName, type, size }) => [index, fileName, type, size])
  const shown = text ?? html
  return [
    `copy of ${recipient}`,
    ...headers.map(({ name, value }) => `${name}: ${value}`),
    '',
    ...(shown === null ? [] : [shown.text, ...(shown.isCut ? [`(the first part of ${shown.size} bytes)`] : [])]),
    ...(files.length > 0 ? ['', table(['no', 'attachment', 'type', 'bytes'], files)] : []),
  ].join('\n')
}
