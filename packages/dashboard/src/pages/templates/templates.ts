import { html, inputField, render, selectField } from '@postrider/ui'
import { type Answer, file, page, redirect } from '../../frame/answer.ts'
import { attempt } from '../../frame/attempt.ts'
import { type AccountCall, field } from '../../frame/call.ts'
import { failurePage } from '../../frame/error-pages.ts'
import { pageHead, problemNote } from '../../frame/parts.ts'
import { contentHeaders } from '../../frame/policy.ts'
import { account, type DashboardRoute } from '../../frame/routes.ts'
import { frameWords } from '../../frame/words/frame-words.ts'
import { comparePage } from './compare-page.ts'
import { textsOf } from './editor.ts'
import { liveParts } from './live-parts.ts'
import { previewOf } from './preview.ts'
import { sendTest } from './send-test.ts'
import {
  activateVersion,
  findTemplate,
  readTexts,
  removeTemplate,
  type ShownTemplate,
  type ShownVersion,
  saveTexts,
  type TemplateTexts,
} from './template-kinds.ts'
import { templateList } from './template-list.ts'
import { templatesWords } from './templates-words.ts'
import { versionPage } from './version-page.ts'

const VERSION = '/templates/:id/versions/:version'

export const TEMPLATES: readonly DashboardRoute[] = [
  account('GET', '/templates', 'templates.read', templateList),
  account('GET', '/templates/new', 'templates', async (call) => templateForm(call)),
  account('POST', '/templates', 'templates', createTemplate),
  account('GET', '/templates/:id', 'templates.read', withVersion(versionPage)),
  account('POST', '/templates/:id/remove', 'templates', withVersion(remove)),
  account('GET', '/templates/:id/compare', 'templates.read', withVersion(comparePage)),
  account(
    'POST',
    '/templates/:id/versions',
    'templates',
    withVersion((call, template) => save(call, template, undefined)),
  ),
  account('GET', VERSION, 'templates.read', withVersion(versionPage)),
  account('POST', VERSION, 'templates', withVersion(save)),
  account('POST', `${VERSION}/activate`, 'templates', withVersion(activate)),
  account('POST', `${VERSION}/test`, 'send', withVersion(test)),
  account('GET', `${VERSION}/preview`, 'templates.read', withVersion(preview)),
  account('POST', `${VERSION}/preview`, 'templates', withVersion(draft)),
  account('POST', `${VERSION}/check`, 'templates', withVersion(check)),
]

type OfVersion = (call: AccountCall, template: ShownTemplate, version: ShownVersion | undefined) => Promise<Answer>

/** A page of one version; without a version in the path, of the active or the newest one. Those of others are not found. */
function withVersion(act: OfVersion): (call: AccountCall) => Promise<Answer> {
  return async (call) => {
    const { language, params } = call
    const template = await findTemplate(call, params.id as string)
    const named = params.version
    const version = template?.versions.find(({ id }) => named === undefined || id === named)
    if (template && (version || named === undefined)) return act(call, template, version)
    const words = frameWords(language)
    return failurePage({ status: 404, title: words.notFound, text: words.notFoundText }, call)
  }
}

function templateForm(call: AccountCall, problem?: string): Answer {
  const { form, language, path } = call
  const words = templatesWords(language)
  return page({
    title: words.add,
    status: problem === undefined ? 200 : 400,
    crumbs: [[words.title, path('templates')]],
    body: html`${pageHead(words.add, null)}${problemNote(call, problem)}<section class="box">
      <form class="pad stack" method="post" action="${path('templates')}">
${inputField({ name: 'name', label: words.name, value: field(form, 'name'), hint: words.nameHint, required: true, autofocus: true, maxlength: 100 })}
${selectField({
  name: 'kind',
  label: words.kind,
  value: field(form, 'kind'),
  hint: words.kindHint,
  choices: [
    ['dynamic', words.kinds.dynamic],
    ['merge', words.kinds.merge],
  ],
})}
<div class="row"><button class="btn main" type="submit">${words.add}</button><a class="btn" href="${path('templates')}">${frameWords(language).cancel}
  </a></div></form></section>`,
  })
}

/** Creates a template with a sample as its first version. */
async function createTemplate(call: AccountCall): Promise<Answer> {
  const { core, account: own, by, form, language, path } = call
  const { sample } = templatesWords(language)
  const name = field(form, 'name')
  const made = await attempt(async () => {
    if (field(form, 'kind') === 'merge') {
      const texts = { subject: sample.subject, content: '<h1>Hello [%NAME%]</h1>' }
      return String((await core.templates.create({ accountId: own.id, name, by, ...texts })).id)
    }
    const { id } = await core.editableTemplates.create({ accountId: own.id, name, generation: 'dynamic', by })
    const texts = { subject: sample.subject, html: sample.html, testData: sample.data, generatePlain: true }
    await core.editableTemplates.addVersion({ accountId: own.id, id, by }, { name: 'Version 1', ...texts })
    return id
  })
  return made.ok ? redirect(path(`templates/${made.value}`), 'added') : templateForm(call, made.problem)
}

async function save(call: AccountCall, template: ShownTemplate, version: ShownVersion | undefined): Promise<Answer> {
  const into = field(call.form, 'as') === 'new' ? undefined : version
  const saved = await attempt(() => saveTexts(call, template, into, textsOf(call.form, template.kind)))
  if (!saved.ok) return versionPage(call, template, version, saved)
  return redirect(call.path(`templates/${template.id}/versions/${saved.value}`), 'saved')
}

async function activate(call: AccountCall, template: ShownTemplate, version?: ShownVersion): Promise<Answer> {
  if (version) await activateVersion(call, template, version.id)
  return redirect(call.path(`templates/${template.id}`), 'activated')
}

async function remove(call: AccountCall, template: ShownTemplate): Promise<Answer> {
  await removeTemplate(call, template)
  return redirect(call.path('templates'), 'removed')
}

/** Sends what is typed in the editor, as the visitor sees it; without an editor, the version. Nothing is saved. */
async function test(call: AccountCall, template: ShownTemplate, version?: ShownVersion): Promise<Answer> {
  const { form, language, path } = call
  if (!version) return redirect(path(`templates/${template.id}`))
  const stored = await readTexts(call, template, version.id)
  const texts = form.html === undefined ? stored : textsOf(form, template.kind)
  const shown = await previewOf(call, template, version.id, texts)
  const problem = shown.problems[0]?.text
  const sent = problem === undefined ? await sendTest(call, shown) : { ok: false as const, problem }
  if (!sent.ok) return versionPage(call, template, version, sent)
  if (isSame(texts, stored)) return redirect(path(`templates/${template.id}/versions/${version.id}`), 'sent')
  return versionPage(call, template, version, { done: templatesWords(language).sentUnsaved })
}

function isSame(texts: TemplateTexts, stored: TemplateTexts): boolean {
  return (['subject', 'html', 'plain', 'testData'] as const).every((part) => texts[part] === stored[part])
}

/** The HTML of a version, or with `part=text` its plain text: a document without an origin, in which nothing runs. */
async function preview(call: AccountCall, template: ShownTemplate, version?: ShownVersion): Promise<Answer> {
  const shown = version && (await previewOf(call, template, version.id, await readTexts(call, template, version.id)))
  const isText = field(call.query, 'part') === 'text'
  return contentFile(isText ? 'text/plain' : 'text/html', (isText ? shown?.text : shown?.html) ?? '')
}

/** The HTML of what is typed, before it is saved; in its place the reason why messages would fail. */
async function draft(call: AccountCall, template: ShownTemplate, version?: ShownVersion): Promise<Answer> {
  const words = templatesWords(call.language)
  const shown = version && (await previewOf(call, template, version.id, textsOf(call.form, template.kind)))
  const [problem] = shown?.problems ?? []
  if (!problem) return contentFile('text/html', shown?.html ?? '')
  const { column, line, text } = problem
  const place = line === undefined || column === undefined ? '' : `${words.place(line, column)}: `
  return contentFile('text/plain', `${words.fails}: ${place}${text}`)
}

/** The other parts of the editor that follow what is typed. */
async function check(call: AccountCall, template: ShownTemplate, version?: ShownVersion): Promise<Answer> {
  if (!version) return redirect(call.path(`templates/${template.id}`))
  const texts = textsOf(call.form, template.kind)
  const shown = await previewOf(call, template, version.id, texts)
  return contentFile('text/html', await render(liveParts(call, template, texts, shown)))
}

function contentFile(type: 'text/html' | 'text/plain', body: string): Answer {
  return file({ type: `${type}; charset=utf-8`, body, headers: contentHeaders(false) })
}
