import {
  defined,
  EDITORS,
  type EditableVersion,
  type Editor,
  type Generation,
  type TemplateWithVersions,
  type VersionChange,
} from '@postrider/core'
import {
  type Answer,
  type Call,
  type Command,
  limitOption,
  requiredId,
  requiredText,
  requiredWord,
  textOption,
  UsageError,
  wholeOption,
} from '../../command.ts'
import { table } from '../../table.ts'
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
  {
    name: 'editable-template create',
    usage: '--account ID --name NAME [--generation legacy|dynamic]',
    summary: 'Create a v3 template without versions',
    parameters: { name: 'Name of the template', generation: 'Kind of the template (default dynamic)' },
    examples: ['editable-template create --account 12 --name welcome'],
    run: (call) => {
      const [accountId, name] = [requiredId(call, 'account'), requiredText(call, 'name')]
      const generation = generationOption(call) ?? 'dynamic'
      return call.withCore(async ({ editableTemplates }) => {
        const template = await editableTemplates.create({ accountId, name, generation })
        return { data: template, text: `template ${template.id}` }
      })
    },
  },
  {
    name: 'editable-template list',
    usage: '--account ID [--generation legacy|dynamic] [--limit N] [--offset N]',
    summary: 'List the v3 templates of an account, newest first',
    parameters: {
      generation: 'Only of this kind',
      offset: 'Number of templates to leave out, for the next page',
    },
    run: (call) => {
      const [accountId, wanted] = [requiredId(call, 'account'), generationOption(call)]
      const page = { limit: limitOption(call), offset: wholeOption(call, 'offset') ?? 0 }
      const generations: readonly Generation[] = wanted === undefined ? ['legacy', 'dynamic'] : [wanted]
      return call.withCore(async (core) => {
        const found = await core.editableTemplates.list({ accountId, generations, ...page })
        const rows = found.templates.map(({ id, generation, name, versions, updatedAt }) => [
          ...[id, generation, name, versions.length, updatedAt],
        ])
        const text = rows.length > 0 ? table(['id', 'kind', 'name', 'versions', 'changed'], rows) : 'no templates'
        return { data: found, text }
      })
    },
  },
  {
    name: 'editable-template show',
    usage: 'TEMPLATE --account ID [--version ID]',
    summary: 'Show a v3 template with its versions, or one version with its content',
    parameters: VERSION,
    run: (call) => {
      const { accountId, id } = named(call)
      const versionId = textOption(call, 'version')
      return call.withCore(async ({ editableTemplates }) =>
        versionId === undefined
          ? shown(await editableTemplates.show(accountId, id))
          : versionShown(await editableTemplates.version(accountId, id, versionId)),
      )
    },
  },
  {
    name: 'editable-template rename',
    usage: 'TEMPLATE --account ID --name NAME',
    summary: 'Rename a v3 template',
    parameters: { ...TEMPLATE, name: 'Name of the template' },
    run: (call) => {
      const [act, name] = [named(call), requiredText(call, 'name')]
      return call.withCore(async ({ editableTemplates }) => shown(await editableTemplates.rename(act, name)))
    },
  },
  {
    name: 'editable-template copy',
    usage: 'TEMPLATE --account ID --name NAME',
    summary: 'Copy a v3 template with all its versions',
    parameters: { ...TEMPLATE, name: 'Name of the copy' },
    run: (call) => {
      const [act, name] = [named(call), requiredText(call, 'name')]
      return call.withCore(async ({ editableTemplates }) => shown(await editableTemplates.duplicate(act, name)))
    },
  },
  {
    name: 'editable-template delete',
    usage: 'TEMPLATE --account ID [--version ID]',
    summary: 'Delete a v3 template and its versions, or one version',
    parameters: VERSION,
    run: (call) => {
      const [act, versionId] = [named(call), textOption(call, 'version')]
      return call.withCore(async ({ editableTemplates }) => {
        await (versionId === undefined
          ? editableTemplates.remove(act)
          : editableTemplates.removeVersion({ ...act, versionId }))
        const what = versionId === undefined ? `template ${act.id}` : `version ${versionId} of template ${act.id}`
        return { data: { deleted: versionId ?? act.id }, text: `${what} deleted` }
      })
    },
  },
  {
    name: 'editable-template add-version',
    usage: `TEMPLATE --account ID --name NAME --subject TEXT ${CONTENT_USAGE} [--inactive]`,
    summary: 'Add a version to a v3 template and use it for new messages',
    parameters: { ...CONTENT, inactive: 'Do not use it yet; the first version is always used' },
    examples: ['editable-template add-version d-0f6c --account 12 --name first --subject Welcome --html welcome.html'],
    run: (call) => {
      const [act, name, subject] = [named(call), requiredText(call, 'name'), requiredText(call, 'subject')]
      const version = { ...contentOf(call), name, subject, active: call.options.inactive !== true }
      return call.withCore(async ({ editableTemplates }) =>
        versionShown(await editableTemplates.addVersion(act, version)),
      )
    },
  },
  {
    name: 'editable-template update',
    usage: `TEMPLATE --account ID --version ID [--name NAME] [--subject TEXT] ${CONTENT_USAGE}`,
    summary: 'Change a version of a v3 template',
    parameters: { ...CONTENT, ...VERSION },
    run: (call) => {
      const act = { ...named(call), versionId: requiredText(call, 'version') }
      const change = contentOf(call)
      if (Object.keys(change).length === 0) throw new UsageError('no changes given')
      return call.withCore(async ({ editableTemplates }) =>
        versionShown(await editableTemplates.editVersion(act, change)),
      )
    },
  },
  {
    name: 'editable-template activate',
    usage: 'TEMPLATE --account ID --version ID',
    summary: 'Use a version of a v3 template for new messages',
    parameters: VERSION,
    run: (call) => {
      const act = { ...named(call), versionId: requiredText(call, 'version') }
      return call.withCore(async ({ editableTemplates }) => versionShown(await editableTemplates.activate(act)))
    },
  },
]

function named(call: Call): { accountId: number; id: string } {
  return { id: requiredWord(call, 'template id'), accountId: requiredId(call, 'account') }
}

/** Throws CommandError or {@link UsageError}. */
function contentOf(call: Call): VersionChange {
  const text = (option: string) => {
    const file = textOption(call, option)
    return file === undefined ? undefined : readText(file, `--${option}`)
  }
  const plain = text('plain')
  return defined({
    name: textOption(call, 'name'),
    subject: textOption(call, 'subject'),
    html: text('html'),
    plain,
    generatePlain: plain === undefined ? undefined : false,
    testData: text('test-data'),
    editor: editorOption(call),
  })
}

function shown(template: TemplateWithVersions): Answer {
  const { id, generation, name, versions } = template
  const rows = versions.map((one) => [one.id, one.active ? 'active' : '', one.name, one.updatedAt, one.subject])
  const list = rows.length > 0 ? table(['version', 'state', 'name', 'changed', 'subject'], rows) : 'no versions'
  return { data: template, text: `${generation} template ${id} ${name}\n\n${list}` }
}

function versionShown(version: EditableVersion): Answer {
  const { id, name, active, subject, html, plain } = version
  const lines = [`version ${id} ${name}${active ? ', active' : ''}`, `subject: ${subject}`, '', html]
  return { data: version, text: [...lines, ...(plain === '' ? [] : ['', plain])].join('\n') }
}

function generationOption(call: Call): Generation | undefined {
  const value = textOption(call, 'generation')
  if (value !== undefined && value !== 'legacy' && value !== 'dynamic') {
    throw new UsageError(`--generation must be legacy or dynamic (got "${value}")`)
  }
  return value
}

function editorOption(call: Call): Editor | undefined {
  const value = textOption(call, 'editor')
  const editor = EDITORS.find((one) => one === value)
  if (value !== undefined && editor === undefined)
    throw new UsageError(`--editor must be code or design (got "${value}")`)
  return editor
}
