import { readFileSync, statSync } from 'node:fs'
import { basename } from 'node:path'
import { ATTACHMENT_SIZE, ServiceError } from '@postrider/core'
import { type Command, CommandError } from '../../command.ts'
import { tableOr } from '../../table.ts'
import { coreCommand } from '../core-command.ts'

/** Files that are stored once, and that messages refer to by attachmentId. */
export const attachmentCommands: readonly Command[] = [
  coreCommand({
    name: 'attachment add',
    usage: 'FILE --account ID [--name NAME]',
    summary: 'Store a file that messages refer to by attachmentId',
    parameters: { name: 'File name that recipients see (default: that of FILE)' },
    examples: ['attachment add rules.pdf --account 12'],
    prepare: ({ FILE: file, account: accountId, name }) => {
      const content = readFile(file)
      const fileName = name ?? basename(file)
      return async ({ attachments }) => {
        const parameters = { fileName: 'name', content: 'FILE' }
        const stored = await attachments.add({ accountId, fileName, content, parameters })
        return { data: stored, text: `attachment ${stored.id}` }
      }
    },
  }),
  coreCommand({
    name: 'attachment list',
    usage: '--account ID [--limit N] [--after ROWS]',
    summary: 'List the stored files of an account, oldest first',
    parameters: { after: 'Number of files after which the page begins' },
    run: async ({ attachments }, { account, limit, after: offset }) => {
      const found = await attachments.list(account, { limit, offset })
      const rows = found.attachments.map((one) => [one.id, one.fileName, one.size, one.createdAt])
      const text = tableOr('no stored files', ['id', 'file name', 'bytes', 'created'], rows)
      return { data: found, text }
    },
  }),
  coreCommand({
    name: 'attachment delete',
    destroys: true,
    usage: 'ID --account ID',
    summary: 'Delete a stored file; accepted messages keep their copy',
    look: async ({ attachments }, { ID: id, account }) => {
      if ((await attachments.find(account, [id])).length === 0) throw new ServiceError('attachmentUnknown')
    },
    run: async ({ attachments }, { ID: id, account: accountId }) => {
      await attachments.remove({ id, accountId })
      return { data: { deleted: id }, text: `attachment ${id} deleted` }
    },
  }),
]

/** Throws {@link CommandError}. */
function readFile(file: string): Buffer {
  try {
    const { size } = statSync(file)
    if (size > ATTACHMENT_SIZE) {
      throw new CommandError(`${file} must have at most ${ATTACHMENT_SIZE} bytes (it has ${size})`)
    }
    return readFileSync(file)
  } catch (error) {
    if (error instanceof CommandError) throw error
    throw new CommandError(`${file} cannot be read: ${(error as NodeJS.ErrnoException).code}`)
  }
}
