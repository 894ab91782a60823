import type { TemplateVersion, VersionSummary } from '@postrider/core'
import Type, { type Static } from 'typebox'
import { timeText } from '../../http/time-text.ts'
import { Text, Values } from '../messages/send-email-schema.ts'
import { valuesOf } from '../messages/values.ts'
import { type Operation, operation } from '../operation.ts'
import { parseId } from '../shapes.ts'
import { Content, contentOf, PlainText, TemplateId, under, Variable, Version } from './template-schema.ts'

const Summary = Type.Object({
  version: Type.Integer(),
  active: Type.Boolean({ description: 'whether new messages use this version' }),
  subject: Type.Union([Type.String(), Type.Null()]),
  size: Type.Integer({ description: 'size of the content in bytes' }),
  createdAt: Type.String(),
})
const Whole = Type.Object({
  ...Summary.properties,
  content: Type.String(),
  text: PlainText,
  variables: Type.Array(Variable),
})

const SUMMARY = { version: 2, active: true, subject: null, size: 12, createdAt: '2026-01-05 10:15:00' }
const ONE = { templateId: 21172, version: 1 }

/** Numbered versions of a template, one of them active. */
export const TEMPLATE_VERSIONS: readonly Operation[] = [
  operation({
    name: 'addTemplateVersion',
    creates: true,
    summary: 'Add a version without activating it',
    cli: 'template add-version',
    group: 'Template',
    scope: 'templates',
    routes: under('/:templateId/versions', 'POST'),
    input: Type.Object({ ...TemplateId, ...Content }),
    answer: Whole,
    errors: ['templateIdInvalid', 'templateBlank', 'templateTooLarge', 'templatesFull'],
    example: {
      input: { templateId: 21172, content: '<p>Hello</p>' },
      data: { ...SUMMARY, active: false, content: '<p>Hello</p>', text: null, variables: [] },
    },
    act: async (input, { core, principal, by }) => {
      const act = { accountId: principal.account.id, id: parseId(input.templateId), by }
      // Omitted content is blank, which core rejects: a version identical to the active one has no use.
      const version = await core.templates.addVersion(act, { content: '', ...contentOf(input) })
      return { data: whole(version) }
    },
  }),
  operation({
    name: 'listTemplateVersions',
    summary:
      'List the versions of a template without their content, newest first. The newest 100 and the active one are kept',
    cli: 'template versions',
    group: 'Template',
    scope: 'templates',
    routes: [...under('/:templateId/versions', 'GET'), ['/getTemplateVersions', 'POST']],
    input: Type.Object(TemplateId),
    answer: Type.Array(Summary),
    errors: ['templateIdInvalid'],
    example: { input: { templateId: 21172 }, data: [SUMMARY] },
    act: async ({ templateId }, { core, principal }) => {
      const versions = await core.templates.versions(principal.account.id, parseId(templateId))
      return { data: versions.map(summary), totalRecords: versions.length }
    },
  }),
  operation({
    name: 'viewTemplateVersion',
    summary: 'Show a version of a template with its content',
    cli: 'template show',
    group: 'Template',
    scope: 'templates',
    routes: [...under('/:templateId/versions/:version', 'GET', 'POST'), ['/getTemplateVersion', 'POST']],
    input: Type.Object({ ...TemplateId, version: Version }),
    answer: Whole,
    errors: ['templateIdInvalid', 'templateVersionUnknown'],
    example: { input: ONE, data: { ...SUMMARY, content: '<p>Hello</p>', text: null, variables: [] } },
    act: async ({ templateId, version }, { core, principal }) => ({
      data: whole(await core.templates.version(principal.account.id, parseId(templateId), parseId(version))),
    }),
  }),
  operation({
    name: 'activateTemplateVersion',
    summary: 'Activate a version for new messages',
    cli: 'template activate',
    group: 'Template',
    scope: 'templates',
    routes: [...under('/:templateId/activate', 'POST'), ...under('/:templateId/versions/:version/activate', 'POST')],
    input: Type.Object({ ...TemplateId, version: Version }),
    answer: Type.Object({ version: Type.Integer() }),
    errors: ['templateIdInvalid', 'templateVersionUnknown'],
    example: { input: ONE, data: { version: 1 } },
    act: async ({ templateId, version }, { core, principal, by }) => {
      const act = { accountId: principal.account.id, id: parseId(templateId), by }
      return { data: { version: (await core.templates.activate(act, parseId(version))).version } }
    },
  }),
  operation({
    name: 'renderTemplate',
    summary: 'Render a template with attributes, and list the errors that a message with them would cause',
    cli: 'template render',
    group: 'Template',
    scope: 'templates',
    routes: under('/:templateId/render', 'POST'),
    input: Type.Object({
      ...TemplateId,
      attributes: Type.Optional(Values),
      subject: Type.Optional(Text),
      version: Type.Optional(Version),
    }),
    answer: Type.Object({
      version: Type.Integer(),
      subject: Type.String(),
      content: Type.String(),
      text: Type.Union([Type.String(), Type.Null()], { description: 'its text part; null if a message has none' }),
      missing: Type.Array(Type.String(), { description: 'merge tags without a value, which are replaced by nothing' }),
      problems: Type.Array(Type.String(), { description: 'errors that a message with these attributes would cause' }),
    }),
    errors: ['templateIdInvalid', 'templateVersionUnknown'],
    example: {
      input: { templateId: 21172, attributes: { NAME: 'Lena' }, subject: 'Berth [%BERTH%]' },
      data: {
        version: 2,
        subject: 'Berth ',
        content: '<p>Hello Lena</p>',
        text: 'Hello Lena',
        missing: ['BERTH'],
        problems: [],
      },
    },
    act: async ({ templateId, attributes, subject, version }, { core, principal }) => {
      const {
        missing,
        names: _,
        problems,
        ...rendered
      } = await core.messages.renderTemplate({
        accountId: principal.account.id,
        id: parseId(templateId),
        attributes: valuesOf(attributes),
        generateText: principal.mailDefaults.generateText,
        subject: subject ?? undefined,
        version: version === undefined ? undefined : parseId(version),
      })
      return { data: { ...rendered, missing: [...missing], problems: [...problems] } }
    },
  }),
]

function summary({ number, active, subject, size, createdAt }: VersionSummary): Static<typeof Summary> {
  return { version: number, active, subject, size, createdAt: timeText(createdAt) }
}

function whole(version: TemplateVersion): Static<typeof Whole> {
  const { content, text, variables } = version
  return { ...summary({ ...version, size: Buffer.byteLength(content) }), content, text, variables: [...variables] }
}
