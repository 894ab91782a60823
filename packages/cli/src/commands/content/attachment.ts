import { readFileSync, statSync } from 'node:fs'
import { basename } from 'node:path'
import { ATTACHMENT_SIZE } from '@postrider/core'
import {
  type Command,
  CommandError,
  limitOption,
  requiredId,
  requiredTarget,
  requiredWord,
  textOption,
  wholeOption,
} from '../../command.ts'
import { table } from '../../table.ts'

/** Files that are stored once, and that messages refer to by attachmentId. */
export const attachmentCommands: readonly Command[] = [
  {
    name: 'attachment add',
    usage: 'FILE --account ID [--name NAME]',
    summary: 'Store a file that messages refer to by attachmentId',
    parameters: { name: 'File name that recipients see (default: that of FILE)' },
    examples: ['attachment add rules.pdf --account 12'],
    run: (call) => {
      const [file, accountId] = [requiredWord(call, 'file'), requiredId(call, 'account')]
      const content = readFile(file)
      const fileName = textOption(call, 'name') ?? basename(file)
      return call.withCore(async ({ attachments }) => {
        const parameters = { fileName: 'name', content: 'FILE' }
        const stored = await attachments.add({ accountId, fileName, content, parameters })
        return { data: stored, text: `attachment ${stored.id}` }
      })
    },
  },
  {
    name: 'attachment list',
    usage: '--account ID [--limit N] [--offset N]',
    summary: 'List the stored files of an account, oldest first',
    parameters: { offset: 'Number of files to leave out, for the next page' },
    run: (call) => {
      const [accountId, page] = [
        requiredId(call, 'account'),
        { limit: limitOption(call), offset: wholeOption(call, 'offset') ?? 0 },
      ]
      return call.withCore(async (core) => {
        const found = await core.attachments.list(accountId, page)
        const rows = found.attachments.map((one) => [one.id, one.fileName, one.size, one.createdAt])
        const text = rows.length > 0 ? table(['id', 'file name', 'bytes', 'created'], rows) : 'no stored files'
        return { data: found, text }
      })
    },
  },
  {
    name: 'attachment delete',
    usage: 'ID --account ID',
    summary: 'Delete a stored file; accepted messages keep their copy',
    run: (call) => {
      const act = { id: requiredTarget(call, 'attachment'), accountId: requiredId(call, 'account') }
      return call.withCore(async ({ attachments }) => {
        await attachments.remove(act)
        return { data: { deleted: act.id }, text: `attachment ${act.id} deleted` }
      })
    },
  },
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
