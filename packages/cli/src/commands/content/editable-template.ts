import {
  defined,
  type EditableVersion,
  type Generation,
  type TemplateWithVersions,
  type VersionChange,
} from '@postrider/core'
import { type Answer, type Command, UsageError } from '../../command.ts'
import { tableOr } from '../../table.ts'
import { coreCommand, type Given } from '../core-command.ts'
import { readText } from '../read-text.ts'

const TEMPLATE = { TEMPLATE: 'Id of the template' }
const VERSION = { ...TEMPLATE, version: 'Id of the version' }
const CONTENT = {
  ...TEMPLATE,
  name: 'Name of the version',
  subject: 'Subject of messages',
  html: 'File with the HTML',
  plain: 'File with the plain text (default: generated from the HTML)',
  'test-data': 'JSON file with values for previews',
  editor: 'Editor that it is meant for',
}
const CONTENT_USAGE = '[--html FILE] [--plain FILE] [--test-data FILE] [--editor code|design]'

/** Legacy and dynamic templates of v3, whose named versions are edited in place. */
export const editableTemplateCommands: readonly Command[] = [
  coreCommand({
    name: 'editable-template create',
    usage: '--account ID --name NAME [--generation legacy|dynamic]',
    summary: 'Create a v3 template without versions',
    parameters: { name: 'Name of the template', generation: 'Kind of the template (default dynamic)' },
    examples: ['editable-template create --account 12 --name welcome'],
    run: async ({ editableTemplates }, { account: accountId, name, generation = 'dynamic' }) => {
      const template = await editableTemplates.create({ accountId, name, generation })
      return { data: template, text: `template ${template.id}` }
    },
  }),
  coreCommand({
    name: 'editable-template list',
    usage: '--account ID [--generation legacy|dynamic] [--limit N] [--after ROWS]',
    summary: 'List the v3 templates of an account, newest first',
    parameters: {
      generation: 'Only of this kind',
      after: 'Number of templates after which the page begins',
    },
    run: async ({ editableTemplates }, { account: accountId, limit, after: offset, generation: kind }) => {
      const generations: readonly Generation[] = kind === undefined ? ['legacy', 'dynamic'] : [kind]
      const found = await editableTemplates.list({ accountId, generations, limit, offset })
      const rows = found.templates.map(({ id, generation, name, versions, updatedAt }) => [
        id,
        generation,
        name,
        versions.length,
        updatedAt,
      ])
      const text = tableOr('no templates', ['id', 'kind', 'name', 'versions', 'changed'], rows)
      return { data: found, text }
    },
  }),
  coreCommand({
    name: 'editable-template show',
    usage: 'TEMPLATE --account ID [--version ID]',
    summary: 'Show a v3 template with its versions, or one version with its content',
    parameters: VERSION,
    run: async ({ editableTemplates }, { version: versionId, TEMPLATE: id, account: accountId }) =>
      versionId === undefined
        ? shown(await editableTemplates.show(accountId, id))
        : versionShown(await editableTemplates.version(accountId, id, versionId)),
  }),
  coreCommand({
    name: 'editable-template rename',
    usage: 'TEMPLATE --account ID --name NAME',
    summary: 'Rename a v3 template',
    parameters: { ...TEMPLATE, name: 'Name of the template' },
    run: async ({ editableTemplates }, { name, TEMPLATE: id, account: accountId }) => {
      const act = { id, accountId }
      return shown(await editableTemplates.rename(act, name))
    },
  }),
  coreCommand({
    name: 'editable-template copy',
    usage: 'TEMPLATE --account ID --name NAME',
    summary: 'Copy a v3 template with all its versions',
    parameters: { ...TEMPLATE, name: 'Name of the copy' },
    run: async ({ editableTemplates }, { name, TEMPLATE: id, account: accountId }) => {
      const act = { id, accountId }
      return shown(await editableTemplates.duplicate(act, name))
    },
  }),
  coreCommand({
    name: 'editable-template delete',
    destroys: true,
    usage: 'TEMPLATE --account ID [--version ID]',
    summary: 'Delete a v3 template and its versions, or one version',
    parameters: VERSION,
    look: ({ editableTemplates }, { version, TEMPLATE: id, account }) =>
      version === undefined ? editableTemplates.summary(account, id) : editableTemplates.version(account, id, version),
    run: async ({ editableTemplates }, { version: versionId, TEMPLATE: id, account: accountId }) => {
      const act = { id, accountId }
      await (versionId === undefined
        ? editableTemplates.remove(act)
        : editableTemplates.removeVersion({ ...act, versionId }))
      const what = versionId === undefined ? `template ${act.id}` : `version ${versionId} of template ${act.id}`
      return { data: { deleted: versionId ?? act.id }, text: `${what} deleted` }
    },
  }),
  coreCommand({
    name: 'editable-template add-version',
    usage: `TEMPLATE --account ID --name NAME --subject TEXT ${CONTENT_USAGE} [--inactive]`,
    summary: 'Add a version to a v3 template and use it for new messages',
    parameters: { ...CONTENT, inactive: 'Do not use it yet; the first version is always used' },
    examples: ['editable-template add-version d-0f6c --account 12 --name first --subject Welcome --html welcome.html'],
    prepare: ({ TEMPLATE: id, account: accountId, inactive, ...given }) => {
      const { name, subject } = given
      const version = { ...contentOf(given), name, subject, active: !inactive }
      return async ({ editableTemplates }) =>
        versionShown(await editableTemplates.addVersion({ id, accountId }, version))
    },
  }),
  coreCommand({
    name: 'editable-template update',
    usage: `TEMPLATE --account ID --version ID [--name NAME] [--subject TEXT] ${CONTENT_USAGE}`,
    summary: 'Change a version of a v3 template',
    parameters: { ...CONTENT, ...VERSION },
    prepare: ({ TEMPLATE: id, account: accountId, version: versionId, ...given }) => {
      const change = contentOf(given)
      if (Object.keys(change).length === 0) throw new UsageError('no changes given')
      return async ({ editableTemplates }) =>
        versionShown(await editableTemplates.editVersion({ id, accountId, versionId }, change))
    },
  }),
  coreCommand({
    name: 'editable-template activate',
    usage: 'TEMPLATE --account ID --version ID',
    summary: 'Use a version of a v3 template for new messages',
    parameters: VERSION,
    run: async ({ editableTemplates }, { version, TEMPLATE: id, account: accountId }) =>
      versionShown(await editableTemplates.activate({ id, accountId, versionId: version })),
  }),
]

/** Throws CommandError. */
function contentOf({
  html,
  plain,
  'test-data': testData,
  ...rest
}: Partial<Given<typeof CONTENT_USAGE>> & {
  readonly name?: string | undefined
  readonly subject?: string | undefined
}): VersionChange {
  const text = (option: string, file: string | undefined) => file && readText(file, `--${option}`)
  return defined({
    name: rest.name,
    subject: rest.subject,
    editor: rest.editor,
    html: text('html', html),
    plain: text('plain', plain),
    testData: text('test-data', testData),
    generatePlain: plain === undefined ? undefined : false,
  })
}

function shown(template: TemplateWithVersions): Answer {
  const { id, generation, name, versions } = template
  const rows = versions.map((one) => [one.id, one.active ? 'active' : '', one.name, one.updatedAt, one.subject])
  const list = tableOr('no versions', ['version', 'state', 'name', 'changed', 'subject'], rows)
  return { data: template, text: `${generation} template ${id} ${name}\n\n${list}` }
}

function versionShown(version: EditableVersion): Answer {
  const { id, name, active, subject, html, plain } = version
  const lines = [`version ${id} ${name}${active ? ', active' : ''}`, `subject: ${subject}`, '', html]
  return { data: version, text: [...lines, ...(plain === '' ? [] : ['', plain])].join('\n') }
}
