import { ServiceError, type Template, type TemplateSummary } from '@postrider/core'
import Type, { type Static } from 'typebox'
import { timeText } from '../../http/time-text.ts'
import { type Operation, operation } from '../operation.ts'
import { Count, Id, Offset, pageOf, parseId } from '../shapes.ts'
import { contentOf, NamedContent, PlainText, TemplateId, under, Variable } from './template-schema.ts'
import { TEMPLATE_VERSIONS } from './template-versions.ts'

const Summary = Type.Object({
  templateId: Type.Integer(),
  templateName: Type.String(),
  subject: Type.Union([Type.String(), Type.Null()]),
  version: Type.Integer({ description: 'number of the active version' }),
  createdAt: Type.String(),
  updatedAt: Type.String(),
})
const Whole = Type.Object({
  ...Summary.properties,
  content: Type.String(),
  text: PlainText,
  variables: Type.Array(Variable),
})

const SUMMARY = {
  templateId: 21172,
  templateName: 'berth_ready',
  subject: null,
  version: 2,
  createdAt: '2026-01-05 10:11:12',
  updatedAt: '2026-01-05 10:15:00',
}
const WHOLE = { ...SUMMARY, content: '<p>Hello</p>', text: 'Hello', variables: [] }

/** Stored content to which messages refer by templateId (contract section 7). */
export const TEMPLATES: readonly Operation[] = [
  operation({
    name: 'createTemplate',
    creates: true,
    summary: 'Create a template for use by templateId',
    cli: 'template create',
    group: 'Template',
    scope: 'templates',
    routes: under('', 'POST'),
    input: Type.Object(NamedContent),
    answer: Type.Object({ templateId: Type.Integer() }),
    errors: [
      'templateNameInvalid',
      'templateBlank',
      'templateTooLarge',
      'templateNameTaken',
      'templatesTooMany',
      'templatesFull',
    ],
    example: {
      input: { templateName: 'berth_ready', content: '%3Cp%3EHi%20%5B%25NAME%25%5D%3C%2Fp%3E' },
      data: { templateId: 21172 },
    },
    act: async (input, { core, principal, by }) => {
      if (Object.keys(input).length === 0) throw new ServiceError('bodyBlank')
      const { id } = await core.templates.create({
        accountId: principal.account.id,
        by,
        name: input.templateName ?? '',
        content: '',
        ...contentOf(input),
      })
      return { data: { templateId: id } }
    },
  }),
  operation({
    name: 'editTemplate',
    summary: 'Change the name, the content or both. New content becomes a new active version',
    cli: 'template update',
    group: 'Template',
    scope: 'templates',
    routes: under('/:templateId', 'PATCH', 'POST', 'PUT'),
    input: Type.Object({ ...TemplateId, ...NamedContent }),
    answer: Type.Object({}),
    errors: [
      'templateIdInvalid',
      'templateNameInvalid',
      'templateBlank',
      'templateTooLarge',
      'templateNameTaken',
      'templatesFull',
    ],
    example: {
      input: { templateId: 21172, templateName: 'berth_ready', content: '%3Cp%3EHello%3C%2Fp%3E' },
      data: {},
    },
    act: async (input, { core, principal, by }) => {
      if (Object.keys(input).length === 1) throw new ServiceError('bodyBlank')
      const { templateId, templateName } = input
      const name = templateName == null ? {} : { name: templateName }
      const change = { ...name, ...contentOf(input) }
      const act = { accountId: principal.account.id, id: parseId(templateId), by }
      if (Object.keys(change).length === 0) {
        await core.templates.show(act.accountId, act.id)
        throw new ServiceError('parameterMissing', { values: { parameter: 'templateName' } })
      }
      await core.templates.edit(act, change)
      return { data: {} }
    },
  }),
  operation({
    name: 'viewTemplate',
    summary: 'Show a template with the content of its active version',
    cli: 'template show',
    group: 'Template',
    scope: 'templates',
    routes: [...under('/:templateId', 'GET'), ['/getTemplate', 'POST']],
    input: Type.Object(TemplateId),
    answer: Whole,
    errors: ['templateIdInvalid'],
    example: { input: { templateId: 21172 }, data: WHOLE },
    act: async ({ templateId }, { core, principal }) => ({
      data: whole(await core.templates.show(principal.account.id, parseId(templateId))),
    }),
  }),
  operation({
    name: 'listTemplates',
    summary:
      'List the templates without their content, oldest first; with template_id, show that template with its content',
    cli: 'template list',
    group: 'Template',
    scope: 'templates',
    routes: [...under('', 'GET'), ['/getTemplates', 'POST']],
    input: Type.Object({
      limit: Count('at most 100; default 10'),
      offset: Offset,
      template_id: Type.Optional(Id),
    }),
    answer: Type.Union([Type.Array(Summary), Whole]),
    errors: ['templateIdInvalid'],
    example: { input: { limit: 10, offset: 0 }, data: [SUMMARY] },
    act: async ({ template_id, ...input }, { core, principal }) => {
      const { id } = principal.account
      if (template_id !== undefined) return { data: whole(await core.templates.show(id, parseId(template_id))) }
      const { templates, total } = await core.templates.list(id, pageOf(input, { byDefault: 10, most: 100 }))
      return { data: templates.map(summary), totalRecords: total }
    },
  }),
  operation({
    name: 'deleteTemplate',
    summary: 'Delete a template and its versions. Accepted messages keep their content, and the name can be reused',
    cli: 'template delete',
    group: 'Template',
    scope: 'templates',
    routes: [...under('/:templateId', 'DELETE'), ['/deleteTemplate', 'POST']],
    input: Type.Object(TemplateId),
    answer: Type.Object({}),
    errors: ['templateIdInvalid'],
    example: { input: { templateId: 21172 }, data: {} },
    act: async ({ templateId }, { core, principal, by }) => {
      await core.templates.remove({ accountId: principal.account.id, id: parseId(templateId), by })
      return { data: {} }
    },
  }),
  ...TEMPLATE_VERSIONS,
]

function summary({ id, name, subject, version, createdAt, updatedAt }: TemplateSummary): Static<typeof Summary> {
  return {
    templateId: id,
    templateName: name,
    subject,
    version,
    createdAt: timeText(createdAt),
    updatedAt: timeText(updatedAt),
  }
}

function whole(template: Template): Static<typeof Whole> {
  return { ...summary(template), content: template.content, text: template.text, variables: [...template.variables] }
}
