import { type FileSummary, invalidParameter, ServiceError } from '@postrider/core'
import Type, { type Static } from 'typebox'
import { timeText } from '../../http/time-text.ts'
import { Text } from '../messages/send-email-schema.ts'
import { fromBase64 } from '../messages/to-submission.ts'
import { type Call, type Operation, operation } from '../operation.ts'
import { Count, Id, Offset, pageOf, parseId } from '../shapes.ts'

const Stored = Type.Object({
  attachmentId: Type.Integer(),
  fileName: Type.String(),
  size: Type.Integer({ description: 'octets' }),
  createdAt: Type.String(),
})
const PARAMETERS = { fileName: 'fileName', content: 'fileContent' }
const EXAMPLE = { attachmentId: 77, fileName: 'rules.txt', size: 5, createdAt: '2026-01-05 10:11:12' }

/** Files that are uploaded once and referred to by attachmentId. */
export const ATTACHMENTS: readonly Operation[] = [
  operation({
    name: 'uploadAttachment',
    creates: true,
    summary: 'Upload a file for use by attachmentId, as JSON or as one file part of multipart/form-data',
    cli: 'attachment add',
    group: 'Attachment',
    scope: 'attachments',
    routes: [
      ['/attachment', 'POST'],
      ['/attachments', 'POST'],
    ],
    input: Type.Object({
      fileName: Type.Optional(Text),
      fileContent: Type.Optional(
        Type.Union([Type.String(), Type.Null()], { description: 'base64; at most 20,480,000 bytes decoded' }),
      ),
    }),
    answer: Stored,
    errors: ['attachmentsFull'],
    example: { input: { fileName: 'rules.txt', fileContent: 'UnVsZXM=' }, data: EXAMPLE },
    act: async (input, { core, principal, by, request }) => {
      const file = fileOf(input, request.fileParts ?? [])
      const stored = await core.attachments.add({
        accountId: principal.account.id,
        by,
        parameters: PARAMETERS,
        ...file,
      })
      return { data: shown(stored) }
    },
  }),
  operation({
    name: 'listAttachments',
    summary: 'List the stored files, oldest first',
    cli: 'attachment list',
    group: 'Attachment',
    scope: 'attachments',
    routes: [
      ['/attachment', 'GET'],
      ['/attachments', 'GET'],
      ['/getAttachments', 'POST'],
    ],
    input: Type.Object({ limit: Count('at most 100; default 10'), offset: Offset }),
    answer: Type.Array(Stored),
    errors: [],
    example: { input: { limit: 10, offset: 0 }, data: [EXAMPLE] },
    act: async (input, { core, principal }) => {
      const page = pageOf(input, { byDefault: 10, most: 100 })
      const { attachments, total } = await core.attachments.list(principal.account.id, page)
      return { data: attachments.map(shown), totalRecords: total }
    },
  }),
  operation({
    name: 'deleteAttachment',
    summary: 'Delete a stored file. Accepted messages keep their copy',
    cli: 'attachment delete',
    group: 'Attachment',
    scope: 'attachments',
    routes: [
      ['/attachment/:attachmentId', 'DELETE'],
      ['/attachments/:attachmentId', 'DELETE'],
      ['/deleteAttachment', 'POST'],
    ],
    input: Type.Object({ attachmentId: Id }),
    answer: Type.Object({}),
    errors: ['attachmentUnknown'],
    example: { input: { attachmentId: 77 }, data: {} },
    act: async ({ attachmentId }, { core, principal, by }) => {
      await core.attachments.remove({ accountId: principal.account.id, id: parseId(attachmentId), by })
      return { data: {} }
    },
  }),
]

interface Given {
  readonly fileName?: string | null
  readonly fileContent?: string | null
}

/** Throws bodyBlank, parameterMissing, parameterInvalid. */
function fileOf(input: Given, parts: NonNullable<Call['request']['fileParts']>): { fileName: string; content: Buffer } {
  const { fileName, fileContent } = input
  const [part, another] = parts
  if (another) throw invalidParameter('fileContent', 'must be exactly one file')
  if (part) return { fileName: fileName || part.fileName, content: part.octets }
  if (Object.keys(input).length === 0) throw new ServiceError('bodyBlank')
  if (!fileName) throw new ServiceError('parameterMissing', { values: { parameter: 'fileName' } })
  if (!fileContent) throw new ServiceError('parameterMissing', { values: { parameter: 'fileContent' } })
  const content = fromBase64(fileContent)
  if (!content) throw invalidParameter('fileContent', 'must be base64')
  return { fileName, content }
}

function shown({ id, fileName, size, createdAt }: FileSummary): Static<typeof Stored> {
  return { attachmentId: id, fileName, size, createdAt: timeText(createdAt) }
}
