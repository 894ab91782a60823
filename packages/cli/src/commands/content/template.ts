import {
  defined,
  type Template,
  type TemplateContent,
  type TemplateVariable,
  VARIABLE_TYPES,
  type VariableType,
} from '@postrider/core'
import { type Command, CommandError, UsageError } from '../../command.ts'
import { table, tableOr } from '../../table.ts'
import { coreCommand } from '../core-command.ts'
import { readJson, readText } from '../read-text.ts'

const CONTENT = {
  file: 'File with its HTML',
  text: 'File with its plain text; an empty one removes it',
  subject: 'Subject of messages that have none; an empty one removes it',
  variables: 'JSON file with its variables: a list of {name, type, required, default}',
}
const VERSION = 'Number of the version'

/** Stored content that v2 messages refer to by templateId, with numbered versions. */
export const templateCommands: readonly Command[] = [
  coreCommand({
    name: 'template create',
    usage: '--account ID --name NAME --file FILE [--text FILE] [--subject TEXT] [--variables FILE]',
    summary: 'Store a template that messages refer to by templateId',
    parameters: { ...CONTENT, name: 'Name of the template' },
    examples: ['template create --account 12 --name welcome --file welcome.html'],
    prepare: ({ account: accountId, name, ...given }) => {
      const content = { content: readText(given.file), ...contentOf(given) }
      return async ({ templates }) => {
        const { id } = await templates.create({ accountId, name, ...content })
        return { data: { templateId: id, templateName: name }, text: `template ${id}` }
      }
    },
  }),
  coreCommand({
    name: 'template list',
    usage: '--account ID [--limit N] [--after ROWS]',
    summary: 'List the templates of an account, oldest first',
    parameters: { after: 'Number of templates after which the page begins' },
    run: async ({ templates }, { account, limit, after: offset }) => {
      const found = await templates.list(account, { limit, offset })
      const rows = found.templates.map((one) => [one.id, one.name, one.version, one.updatedAt, one.subject])
      const text = tableOr('no templates', ['id', 'name', 'version', 'changed', 'subject'], rows)
      return { data: found, text }
    },
  }),
  coreCommand({
    name: 'template show',
    usage: 'ID --account ID [--version N]',
    summary: 'Show a template with the content of its active version, or of another one',
    parameters: { version: VERSION },
    run: async ({ templates }, { version, ID: id, account: accountId }) => {
      const template = await templates.show(accountId, id)
      const shown = version === undefined ? template : await templates.version(accountId, id, version)
      const about = `template ${id} ${template.name}, version ${version ?? template.version}`
      return { data: shown, text: [about, `subject: ${shown.subject ?? ''}`, '', ...partsOf(shown)].join('\n') }
    },
  }),
  coreCommand({
    name: 'template update',
    usage: 'ID --account ID [--name NAME] [--file FILE] [--text FILE] [--subject TEXT] [--variables FILE]',
    summary: 'Change a template; new content becomes a new active version',
    parameters: { ...CONTENT, name: 'Name of the template' },
    prepare: ({ ID: id, account: accountId, name, ...given }) => {
      const change = { ...defined({ name }), ...contentOf(given) }
      if (Object.keys(change).length === 0) throw new UsageError('no changes given')
      return async ({ templates }) => {
        const template = await templates.edit({ id, accountId }, change)
        return { data: template, text: `template ${id} is changed; version ${template.version} is active` }
      }
    },
  }),
  coreCommand({
    name: 'template delete',
    destroys: true,
    usage: 'ID --account ID',
    summary: 'Delete a template and its versions; accepted messages keep their content',
    look: ({ templates }, { ID: id, account }) => templates.show(account, id),
    run: async ({ templates }, { ID: id, account: accountId }) => {
      const act = { id, accountId }
      await templates.remove(act)
      return { data: { deleted: act.id }, text: `template ${act.id} deleted` }
    },
  }),
  coreCommand({
    name: 'template versions',
    usage: 'ID --account ID',
    summary: 'List the versions of a template, newest first',
    run: async ({ templates }, { ID: id, account: accountId }) => {
      const versions = await templates.versions(accountId, id)
      const rows = versions.map((one) => [one.number, one.active ? 'active' : '', one.size, one.createdAt, one.subject])
      return { data: versions, text: table(['version', 'state', 'bytes', 'created', 'subject'], rows) }
    },
  }),
  coreCommand({
    name: 'template add-version',
    usage: 'ID --account ID --file FILE [--text FILE] [--subject TEXT] [--variables FILE]',
    summary: 'Add a version to a template without activating it',
    parameters: CONTENT,
    prepare: ({ ID: id, account: accountId, ...given }) => {
      const content = { ...contentOf(given), content: readText(given.file) }
      return async ({ templates }) => {
        const version = await templates.addVersion({ id, accountId }, content)
        return { data: version, text: `version ${version.number} of template ${id}` }
      }
    },
  }),
  coreCommand({
    name: 'template activate',
    usage: 'ID --account ID --version N',
    summary: 'Use a version of a template for new messages',
    parameters: { version: VERSION },
    examples: ['template activate 21172 --account 12 --version 3'],
    run: async ({ templates }, { version, ID: id, account: accountId }) => {
      const act = { id, accountId }
      const template = await templates.activate(act, version)
      return { data: template, text: `version ${template.version} of template ${act.id} is active` }
    },
  }),
  coreCommand({
    name: 'template render',
    usage: 'ID --account ID [--values FILE] [--subject TEXT] [--version N]',
    summary: 'Render a template as for a recipient; exit status 1 if a message would be rejected',
    parameters: {
      values: 'JSON file with the attributes of the recipient',
      subject: 'Subject of the message (default: that of the template)',
      version: 'Number of the version (default: the active one)',
    },
    prepare: ({ ID: id, account: accountId, values, ...rest }) => {
      const rendering = { id, accountId, attributes: attributesOf(values), ...rest }
      return async ({ accounts, messages }) => {
        const { generateText } = await accounts.settings.show(accountId)
        const rendered = await messages.renderTemplate({ ...rendering, generateText })
        const { subject, missing, problems } = rendered
        const note = missing.length > 0 ? [`no values for ${missing.join(', ')}`] : []
        const answer = { data: rendered, text: [`subject: ${subject}`, ...note, '', ...partsOf(rendered)].join('\n') }
        return problems.length > 0 ? { ...answer, failure: problems.join('; ') } : answer
      }
    },
  }),
]

/** The HTML, and the text below a line. */
function partsOf({ content, text }: { readonly content: string; readonly text: string | null }): string[] {
  return text === null ? [content] : [content, '-- text --', text]
}

/** The content that is given. Throws {@link CommandError}. */
function contentOf({
  file,
  text,
  subject,
  variables,
}: Partial<Readonly<Record<string, string | undefined>>>): Partial<TemplateContent> {
  return {
    ...(file === undefined ? {} : { content: readText(file) }),
    ...(text === undefined ? {} : { text: readText(text).trim() === '' ? null : readText(text) }),
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
