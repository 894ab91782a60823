import { EDITORS, GENERATIONS, ServiceError, type VersionChange } from '@postrider/core'
import Type, { type Static } from 'typebox'
import { type Call, type Operation, operation } from '../operation.ts'
import { refuse } from '../refusal.ts'
import { listTemplates, PAGE } from './list-templates.ts'
import { shownTemplate, wholeTemplate, wholeVersion } from './shown-template.ts'

const OfTemplate = Type.Object({ template_id: Type.String() })
const OfVersion = Type.Object({ template_id: Type.String(), version_id: Type.String() })
const Named = Type.Object({ name: Type.String() })
const VERSION = {
  name: Type.String(),
  subject: Type.String(),
  html_content: Type.String(),
  plain_content: Type.String(),
  generate_plain_content: Type.Boolean(),
  active: Type.Integer({ minimum: 0, maximum: 1 }),
  editor: Type.Enum([...EDITORS]),
  test_data: Type.String(),
}
const { name, subject, ...rest } = VERSION
const NewVersion = Type.Object({ name, subject, ...Type.Partial(Type.Object(rest)).properties })
const VersionEdit = Type.Partial(Type.Object(VERSION))

const PATHS = {
  all: '/templates',
  one: '/templates/:template_id',
  versions: '/templates/:template_id/versions',
} as const
const VERSION_PATH = `${PATHS.versions}/:version_id`
const templates = { scope: 'templates' } as const

/** Templates and their versions (contract section 3). */
export const TEMPLATES: readonly Operation[] = [
  operation({
    name: 'createTemplate',
    summary: 'Create a template without versions. The default generation is legacy',
    cli: 'editable-template create',
    ...templates,
    section: '3.5',
    method: 'POST',
    path: PATHS.all,
    right: 'templates.create',
    status: 201,
    body: Type.Object({ name, generation: Type.Optional(Type.Enum([...GENERATIONS])) }),
    act: async ({ body }, { core, principal, by }) => {
      const { name, generation = 'legacy' } = body
      const created = core.editableTemplates.create({ accountId: principal.account.id, name, generation, by })
      return shownTemplate(await named(created), [])
    },
  }),
  operation({
    name: 'listTemplates',
    summary:
      'List templates: one page if page_size is given, else all legacy templates or those of the given generations',
    cli: 'editable-template list',
    ...templates,
    section: '3.5',
    method: 'GET',
    path: PATHS.all,
    right: 'templates.read',
    status: 200,
    query: Type.Object({
      generations: Type.Optional(Type.String()),
      page_size: Type.Optional(Type.Integer({ minimum: 1, maximum: PAGE })),
      page_token: Type.Optional(Type.String()),
    }),
    act: ({ query }, call) => listTemplates(query, call),
  }),
  operation({
    name: 'viewTemplate',
    summary: 'Show a template with its versions',
    cli: 'editable-template show',
    ...templates,
    section: '3.2',
    method: 'GET',
    path: PATHS.one,
    right: 'templates.read',
    status: 200,
    params: OfTemplate,
    act: async ({ params }, { core, principal }) => {
      const { id: accountId } = principal.account
      return wholeTemplate(await core.editableTemplates.show(accountId, params.template_id), accountId)
    },
  }),
  operation({
    name: 'renameTemplate',
    summary: 'Rename a template',
    cli: 'editable-template rename',
    ...templates,
    section: '3.5',
    method: 'PATCH',
    path: PATHS.one,
    right: 'templates.update',
    status: 200,
    params: OfTemplate,
    body: Named,
    act: async ({ params, body }, { core, principal, by }) => {
      const { id: accountId } = principal.account
      const act = { accountId, id: params.template_id, by }
      return wholeTemplate(await named(core.editableTemplates.rename(act, body.name)), accountId)
    },
  }),
  operation({
    name: 'duplicateTemplate',
    summary: 'Copy a template with all its versions',
    cli: 'editable-template copy',
    ...templates,
    section: '3.5',
    method: 'POST',
    path: PATHS.one,
    right: 'templates.create',
    status: 201,
    params: OfTemplate,
    body: Type.Partial(Named),
    act: async ({ params, body }, { core, principal, by }) => {
      const { id: accountId } = principal.account
      const act = { accountId, id: params.template_id, by }
      const name =
        body.name ?? `Duplicate: ${(await core.editableTemplates.show(accountId, act.id)).name}`.slice(0, 100)
      return wholeTemplate(await named(core.editableTemplates.duplicate(act, name)), accountId)
    },
  }),
  operation({
    name: 'deleteTemplate',
    summary: 'Delete a template and its versions',
    cli: 'editable-template delete',
    ...templates,
    section: '3.5',
    method: 'DELETE',
    path: PATHS.one,
    right: 'templates.delete',
    status: 204,
    params: OfTemplate,
    act: ({ params }, { core, principal, by }) =>
      core.editableTemplates.remove({ accountId: principal.account.id, id: params.template_id, by }),
  }),
  operation({
    name: 'addTemplateVersion',
    summary: 'Add a version. The first one is active',
    cli: 'editable-template add-version',
    ...templates,
    section: '3.3',
    method: 'POST',
    path: PATHS.versions,
    right: 'templates.versions.create',
    params: OfTemplate,
    body: NewVersion,
    status: 201,
    act: async ({ params, body }, { core, principal, by }) => {
      const act = { accountId: principal.account.id, id: params.template_id, by }
      const version = { ...changeOf(body), name: body.name, subject: body.subject }
      const { updated_at: _, ...shown } = wholeVersion(await named(core.editableTemplates.addVersion(act, version)))
      return shown
    },
  }),
  operation({
    name: 'viewTemplateVersion',
    summary: 'Show a version',
    cli: 'editable-template show',
    ...templates,
    section: '3.5',
    method: 'GET',
    path: VERSION_PATH,
    right: 'templates.versions.read',
    status: 200,
    params: OfVersion,
    act: async ({ params: { template_id, version_id } }, { core, principal }) =>
      wholeVersion(await core.editableTemplates.version(principal.account.id, template_id, version_id)),
  }),
  operation({
    name: 'editTemplateVersion',
    summary: 'Change a version. Omitted fields are unchanged',
    cli: 'editable-template update',
    ...templates,
    section: '3.4',
    method: 'PATCH',
    path: VERSION_PATH,
    right: 'templates.versions.update',
    params: OfVersion,
    body: VersionEdit,
    status: 200,
    act: async ({ params, body }, call) =>
      wholeVersion(await named(call.core.editableTemplates.editVersion(versionAct(params, call), changeOf(body)))),
  }),
  operation({
    name: 'activateTemplateVersion',
    summary: 'Activate a version for new messages',
    cli: 'editable-template activate',
    ...templates,
    section: '3.5',
    method: 'POST',
    path: `${VERSION_PATH}/activate`,
    status: 200,
    right: 'templates.versions.activate.create',
    params: OfVersion,
    act: async ({ params }, call) => wholeVersion(await call.core.editableTemplates.activate(versionAct(params, call))),
  }),
  operation({
    name: 'deleteTemplateVersion',
    summary: 'Delete a version. If it was active, the template has no active version',
    cli: 'editable-template delete',
    ...templates,
    section: '3.5',
    method: 'DELETE',
    path: VERSION_PATH,
    right: 'templates.versions.delete',
    params: OfVersion,
    status: 204,
    act: ({ params }, call) => call.core.editableTemplates.removeVersion(versionAct(params, call)),
  }),
]

function versionAct({ template_id, version_id }: Static<typeof OfVersion>, { principal, by }: Call) {
  return { accountId: principal.account.id, id: template_id, versionId: version_id, by }
}

function changeOf(body: Static<typeof VersionEdit>): VersionChange {
  const { name, subject, html_content, plain_content, generate_plain_content, active, editor, test_data } = body
  return {
    name,
    subject,
    html: html_content,
    plain: plain_content,
    generatePlain: generate_plain_content,
    active: active === undefined ? undefined : active === 1,
    editor,
    testData: test_data,
  }
}

/** v3's names of core's fields. */
const FIELDS: Readonly<Record<string, string>> = { html: 'html_content', plain: 'plain_content', testData: 'test_data' }

/** Translates core's error about a field to v3's name of it. */
async function named<T>(act: Promise<T>): Promise<T> {
  try {
    return await act
  } catch (error) {
    if (!(error instanceof ServiceError) || error.errorName !== 'parameterInvalid') throw error
    const { parameter, problem } = error.values
    if (parameter === 'editor') {
      throw refuse(400, 'You cannot switch editors once a dynamic template version has been created.', 'editor')
    }
    const field = FIELDS[String(parameter)] ?? String(parameter)
    throw refuse(400, `${field} ${problem}.`, field)
  }
}
