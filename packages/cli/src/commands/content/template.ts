import {
  type Template,
  type TemplateContent,
  type TemplateVariable,
  VARIABLE_TYPES,
  type VariableType,
} from '@postrider/core'
import {
  type Call,
  type Command,
  CommandError,
  limitOption,
  requiredId,
  requiredTarget,
  requiredText,
  textOption,
  UsageError,
  wholeOption,
} from '../../command.ts'
import { table } from '../../table.ts'
import { readJson, readText } from '../read-text.ts'

const CONTENT = {
  file: 'File with its HTML',
  subject: 'Subject of messages that have none; an empty one removes it',
  variables: 'JSON file with its variables: a list of {name, type, required, default}',
}
const VERSION = 'Number of the version'

/** Stored content that v2 messages refer to by templateId, with numbered versions. */
export const templateCommands: readonly Command[] = [
  {
    name: 'template create',
    usage: '--account ID --name NAME --file FILE [--subject TEXT] [--variables FILE]',
    summary: 'Store a template that messages refer to by templateId',
    parameters: { ...CONTENT, name: 'Name of the template' },
    examples: ['template create --account 12 --name welcome --file welcome.html'],
    run: (call) => {
      const [accountId, name] = [requiredId(call, 'account'), requiredText(call, 'name')]
      const content = { content: readText(requiredText(call, 'file')), ...contentOf(call) }
      return call.withCore(async ({ templates }) => {
        const { id } = await templates.create({ accountId, name, ...content })
        return { data: { templateId: id, templateName: name }, text: `template ${id}` }
      })
    },
  },
  {
    name: 'template list',
    usage: '--account ID [--limit N] [--offset N]',
    summary: 'List the templates of an account, oldest first',
    parameters: { offset: 'Number of templates to leave out, for the next page' },
    run: (call) => {
      const [accountId, page] = [
        requiredId(call, 'account'),
        { limit: limitOption(call), offset: wholeOption(call, 'offset') ?? 0 },
      ]
      return call.withCore(async (core) => {
        const found = await core.templates.list(accountId, page)
        const rows = found.templates.map((one) => [one.id, one.name, one.version, one.updatedAt, one.subject])
        const text = rows.length > 0 ? table(['id', 'name', 'version', 'changed', 'subject'], rows) : 'no templates'
        return { data: found, text }
      })
    },
  },
  {
    name: 'template show',
    usage: 'ID --account ID [--version N]',
    summary: 'Show a template with the content of its active version, or of another one',
    parameters: { version: VERSION },
    run: (call) => {
      const { accountId, id } = named(call)
      const version = wholeOption(call, 'version')
      return call.withCore(async ({ templates }) => {
        const template = await templates.show(accountId, id)
        const shown = version === undefined ? template : await templates.version(accountId, id, version)
        const about = `template ${id} ${template.name}, version ${version ?? template.version}`
        return { data: shown, text: `${about}\nsubject: ${shown.subject ?? ''}\n\n${shown.content}` }
      })
    },
  },
  {
    name: 'template update',
    usage: 'ID --account ID [--name NAME] [--file FILE] [--subject TEXT] [--variables FILE]',
    summary: 'Change a template; new content becomes a new active version',
    parameters: { ...CONTENT, name: 'Name of the template' },
    run: (call) => {
      const name = textOption(call, 'name')
      const change = { ...(name === undefined ? {} : { name }), ...contentOf(call) }
      if (Object.keys(change).length === 0) throw new UsageError('no changes given')
      const act = named(call)
      return call.withCore(async ({ templates }) => {
        const template = await templates.edit(act, change)
        return { data: template, text: `template ${act.id} is changed; version ${template.version} is active` }
      })
    },
  },
  {
    name: 'template delete',
    usage: 'ID --account ID',
    summary: 'Delete a template and its versions; accepted messages keep their content',
    run: (call) => {
      const act = named(call)
      return call.withCore(async ({ templates }) => {
        await templates.remove(act)
        return { data: { deleted: act.id }, text: `template ${act.id} deleted` }
      })
    },
  },
  {
    name: 'template versions',
    usage: 'ID --account ID',
    summary: 'List the versions of a template, newest first',
    run: (call) => {
      const { accountId, id } = named(call)
      return call.withCore(async ({ templates }) => {
        const versions = await templates.versions(accountId, id)
        const rows = versions.map((one) => [
          ...[one.number, one.active ? 'active' : '', one.size, one.createdAt, one.subject],
        ])
        return { data: versions, text: table(['version', 'state', 'bytes', 'created', 'subject'], rows) }
      })
    },
  },
  {
    name: 'template add-version',
    usage: 'ID --account ID --file FILE [--subject TEXT] [--variables FILE]',
    summary: 'Add a version to a template without activating it',
    parameters: CONTENT,
    run: (call) => {
      const [act, file] = [named(call), requiredText(call, 'file')]
      const content = { ...contentOf(call), content: readText(file) }
      return call.withCore(async ({ templates }) => {
        const version = await templates.addVersion(act, content)
        return { data: version, text: `version ${version.number} of template ${act.id}` }
      })
    },
  },
  {
    name: 'template activate',
    usage: 'ID --account ID --version N',
    summary: 'Use a version of a template for new messages',
    parameters: { version: VERSION },
    examples: ['template activate 21172 --account 12 --version 3'],
    run: (call) => {
      const [act, version] = [named(call), requiredId(call, 'version')]
      return call.withCore(async ({ templates }) => {
        const template = await templates.activate(act, version)
        return { data: template, text: `version ${template.version} of template ${act.id} is active` }
      })
    },
  },
  {
    name: 'template render',
    usage: 'ID --account ID [--values FILE] [--subject TEXT] [--version N]',
    summary: 'Render a template as for a recipient; exit status 1 if a message would be rejected',
    parameters: {
      values: 'JSON file with the attributes of the recipient',
      subject: 'Subject of the message (default: that of the template)',
      version: 'Number of the version (default: the active one)',
    },
    run: (call) => {
      const rendering = {
        ...named(call),
        attributes: attributesOf(textOption(call, 'values')),
        subject: textOption(call, 'subject'),
        version: wholeOption(call, 'version'),
      }
      return call.withCore(async ({ messages }) => {
        const rendered = await messages.renderTemplate(rendering)
        const { subject, content, missing, problems } = rendered
        const note = missing.length > 0 ? [`no values for ${missing.join(', ')}`] : []
        const answer = { data: rendered, text: [`subject: ${subject}`, ...note, '', content].join('\n') }
        return problems.length > 0 ? { ...answer, failure: problems.join('; ') } : answer
      })
    },
  },
]

function named(call: Call): { accountId: number; id: number } {
  return { accountId: requiredId(call, 'account'), id: requiredTarget(call, 'template') }
}

/** The content that is given. Throws {@link CommandError}. */
function contentOf(call: Call): Partial<TemplateContent> {
  const [file, subject, variables] = ['file', 'subject', 'variables'].map((name) => textOption(call, name))
  return {
    ...(file === undefined ? {} : { content: readText(file) }),
    ...(subject === undefined ? {} : { subject: subject.trim() === '' ? null : subject }),
    ...(variables === undefined ? {} : { variables: variablesIn(variables) }),
  }
}

/** Throws {@link CommandError}. */
function variablesIn(file: string): Template['variables'] {
  const read = readJson(file, '--variables')
  if (!Array.isArray(read)) throw new CommandError(`--variables ${file} must be a list`)
  return read.map((one, at): TemplateVariable => {
    const { name, type = 'string', required = false, default: value = null } = Object(one) as Record<string, unknown>
    if (typeof name !== 'string' || !VARIABLE_TYPES.includes(type as VariableType)) {
      throw new CommandError(
        `--variables ${file}: entry ${at} needs a name, and a type of ${VARIABLE_TYPES.join(', ')}`,
      )
    }
    return {
      name,
      type: type as VariableType,
      required: required === true,
      default: value === null ? null : String(value),
    }
  })
}

/** Throws {@link CommandError}. */
function attributesOf(file: string | undefined): Record<string, string> {
  if (file === undefined) return {}
  const read = readJson(file, '--values')
  if (typeof read !== 'object' || read === null || Array.isArray(read)) {
    throw new CommandError(`--values ${file} must be an object`)
  }
  return Object.fromEntries(Object.entries(read).map(([name, value]) => [name, String(value ?? '')]))
}
