import { readFileSync } from 'node:fs'
import { type Command, CommandError, requiredId, requiredText } from '../command.ts'

export const contentCommands: readonly Command[] = [
  {
    name: 'template create',
    usage: '--account ID --name NAME --file FILE',
    summary: 'Store a template that messages refer to by templateId',
    parameters: { name: 'Name of the template', file: 'File with its HTML' },
    examples: ['template create --account 12 --name welcome --file welcome.html'],
    run: (call) => {
      const [accountId, name] = [requiredId(call, 'account'), requiredText(call, 'name')]
      const content = contentOf(requiredText(call, 'file'))
      return call.withCore(async (core) => {
        const template = await core.templates.create({ accountId, name, content })
        return { data: { templateId: template.id, templateName: template.name }, text: `template ${template.id}` }
      })
    },
  },
]

/** Throws {@link CommandError} if the file cannot be read as UTF-8 text. */
function contentOf(file: string): string {
  try {
    const content = new TextDecoder('utf-8', { fatal: true }).decode(readFileSync(file))
    if (content.includes('\0')) throw new Error('it contains NUL characters')
    return content
  } catch (error) {
    const { code, message } = error as { code?: string; message: string }
    const problem = code === 'ERR_ENCODING_INVALID_ENCODED_DATA' ? 'not UTF-8 text' : (code ?? message)
    throw new CommandError(`--file ${file} cannot be read: ${problem}`)
  }
}
