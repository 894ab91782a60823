import { Readable } from 'node:stream'
import { type BodyQuery, type ShownBody, type ShownText, written } from '@postrider/core'
import Type, { type Static } from 'typebox'
import { type Call, type Operation, operation, type Streamed } from '../operation.ts'
import { Count, parseWhole } from '../shapes.ts'
import { MessageId } from './message-shapes.ts'

const Text = Type.Union([
  Type.Object({
    text: Type.String({ description: 'the first 256 kB' }),
    size: Type.Integer({ description: 'bytes of the whole' }),
    cut: Type.Boolean({ description: 'whether there is more' }),
  }),
  Type.Null(),
])

const Body = Type.Object({
  recipientNo: Type.Integer({ description: 'the recipient whose copy it is' }),
  recipient: Type.String(),
  html: Text,
  text: Text,
  source: Text,
  headers: Type.Array(Type.Object({ name: Type.String(), value: Type.String() }), {
    description: 'the fields of the header, unfolded and not decoded',
  }),
  attachments: Type.Array(
    Type.Object({
      index: Type.Integer({ description: 'for downloadAttachment' }),
      fileName: Type.Union([Type.String(), Type.Null()]),
      type: Type.String(),
      size: Type.Integer({ description: 'bytes' }),
      inline: Type.Boolean(),
      contentId: Type.Union([Type.String(), Type.Null()]),
    }),
  ),
  complete: Type.Boolean({ description: 'false if the message has more parts than are read' }),
})

const Copy = {
  messageId: MessageId,
  recipient_no: Count('number of the recipient whose copy is meant; default: the first one'),
}

const example: Static<typeof Body> = {
  recipientNo: 0,
  recipient: 'lena@harbor.example',
  html: { text: '<p>Your berth is ready.</p>', size: 27, cut: false },
  text: { text: 'Your berth is ready.', size: 20, cut: false },
  source: { text: 'Date: Mon, 05 Jan 2026 10:11:12 +0000\r\nFrom: desk@ship.example\r\n…', size: 1834, cut: false },
  headers: [{ name: 'From', value: 'desk@ship.example' }],
  attachments: [
    { index: 0, fileName: 'rules.pdf', type: 'application/pdf', size: 81_920, inline: false, contentId: null },
  ],
  complete: true,
}

const ERRORS = ['messageNotFound', 'messageBodyGone', 'messageBodyUnreadable'] as const
const messageId = '019b8d6a3c80700080000000000000a1'

/** The content of a message. Its links are not tracked and its pixel is left out, so that reading it counts as nothing. */
export const MESSAGE_BODY: readonly Operation[] = [
  operation({
    name: 'messageBody',
    summary: "Show one recipient's copy of a message: its texts, header and attachments",
    cli: 'message body',
    group: 'Message',
    scope: 'content',
    routes: [['/messages/:messageId/body', 'GET', 'POST']],
    input: Type.Object(Copy),
    answer: Body,
    errors: [...ERRORS, 'messageMalformed'],
    example: { input: { messageId }, data: example },
    act: async (input, call) => ({ data: shown(await call.core.messages.body(queryOf(input, call))) }),
  }),
  operation({
    name: 'downloadMessage',
    summary: "Download one recipient's copy of a message as it was sent, without the signature",
    cli: 'message download',
    group: 'Message',
    scope: 'content',
    routes: [['/messages/:messageId/source', 'GET', 'POST']],
    input: Type.Object(Copy),
    answer: Type.String(),
    gives: ['message/rfc822'],
    errors: [...ERRORS],
    example: { input: { messageId }, data: 'From: desk@ship.example\r\n\r\nYour berth is ready.\r\n' },
    async act(input, call) {
      const source = await call.core.messages.source(queryOf(input, call))
      return download(call, source, `${input.messageId}.eml`)
    },
  }),
  operation({
    name: 'downloadAttachment',
    summary: 'Download an attachment of a message',
    cli: 'message download',
    group: 'Message',
    scope: 'content',
    routes: [['/messages/:messageId/attachments/:index', 'GET', 'POST']],
    input: Type.Object({ ...Copy, index: Type.Integer({ minimum: 0, maximum: 10_000 }) }),
    answer: Type.String(),
    gives: ['application/octet-stream'],
    errors: [...ERRORS, 'messageMalformed'],
    example: { input: { messageId, index: 0 }, data: 'the bytes of the file' },
    async act({ index, ...input }, call) {
      const { fileName, content } = await call.core.messages.attachment({ ...queryOf(input, call), index })
      return download(call, content, fileName ?? `attachment-${index}`)
    },
  }),
]

interface CopyInput {
  readonly messageId: string
  readonly recipient_no?: string | number | null | undefined
}

/** Throws parameterInvalid. */
function queryOf({ messageId, recipient_no }: CopyInput, { principal, reply }: Call): BodyQuery {
  const given = parseWhole(recipient_no, 'recipient_no')
  // A message has at most 10,000 recipients.
  const recipientNo = given && Math.min(given, 1_000_000)
  return { accountId: principal.account.id, messageId, recipientNo, held: written(reply.raw) }
}

/** A file whose type no browser guesses. */
function download({ reply }: Call, content: Uint8Array, fileName: string): Streamed {
  reply.header('x-content-type-options', 'nosniff')
  reply.header('content-length', content.length)
  return { stream: Readable.from([content]), fileName }
}

function shown({ recipientNo, recipient, html, text, source, headers, attachments, isComplete }: ShownBody) {
  const textOf = (one: ShownText | null) => one && { text: one.text, size: one.size, cut: one.isCut }
  return {
    recipientNo,
    recipient,
    html: textOf(html),
    text: textOf(text),
    source: textOf(source),
    headers: headers.map(({ name, value }) => ({ name, value })),
    attachments: attachments.map(({ isInline, ...one }) => ({ ...one, inline: isInline })),
    complete: isComplete,
  }
}
