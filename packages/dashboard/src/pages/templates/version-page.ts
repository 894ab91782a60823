import { foreign, type Html, html } from '@postrider/ui'
import { type Answer, page } from '../../frame/answer.ts'
import type { AccountCall } from '../../frame/call.ts'
import { ask, byApi, copyable, pageHead, problemNote } from '../../frame/parts.ts'
import { type Edited, editor, textsOf } from './editor.ts'
import { fitsForm, octetsOf } from './fits-form.ts'
import { failing, hints } from './live-parts.ts'
import { type Preview, previewOf } from './preview.ts'
import { readTexts, type ShownTemplate, type ShownVersion, type TemplateTexts } from './template-kinds.ts'
import { templatesWords } from './templates-words.ts'

const EMPTY: TemplateTexts = { subject: '', html: '', plain: '', generatePlain: true, testData: '' }
const UNSEEN: Preview = { subject: '', html: '', text: '', missing: [], names: [], problems: [] }

/** The outcome of an action on texts that were typed and not saved: the reason why it was refused, or what was done. */
export interface Outcome {
  readonly problem?: string
  readonly done?: string
}

/** The editor of a version. After an action that saved nothing, it has what was typed. */
export async function versionPage(
  call: AccountCall,
  template: ShownTemplate,
  version: ShownVersion | undefined,
  { problem, done }: Outcome = {},
): Promise<Answer> {
  const { form, icon, language, may, path } = call
  const words = templatesWords(language)
  const stored = version ? await readTexts(call, template, version.id) : EMPTY
  const isUnsaved = (problem !== undefined || done !== undefined) && form.html !== undefined
  const texts = isUnsaved ? textsOf(form, template.kind) : stored
  const shown = version ? await previewOf(call, template, version.id, texts) : { ...UNSEEN, subject: texts.subject }
  const edited = { template, version, texts, shown, isUnsaved }
  const state = version === undefined ? words.noVersion : version.active ? words.isActive : words.isNotActive
  const canEdit = fitsForm(texts)
  return page({
    title: template.name,
    status: problem === undefined ? 200 : 400,
    crumbs: [[words.title, path('templates')]],
    scripts: canEdit ? ['editor.js'] : [],
    body: html`${pageHead(
      html`${foreign(template.name)}`,
      html`${version && words.versionName(version.name)} ${state}`,
      version && !version.active && may('templates') && activates(call, template, version),
    )}
<div class="row gap"><span class="dim">${words.kindNames[template.kind]}</span><span class="row tight"><span class="dim">${words.id}</span>
${copyable(call, template.id, words.id)}</span></div>
${problemNote(call, problem)}${version?.problem && !isUnsaved && failingNote(call, version.problem)}
${done !== undefined && html`<div class="note good" role="status">${icon('check', 'good')}<p>${done}</p></div>`}
${canEdit ? (version || may('templates')) && editor(call, edited) : version && tooLarge(call, { ...edited, version })}
${versionList(call, template, version)}
<div class="row">${
      may('templates') &&
      ask({
        language: call.language,
        id: 'remove',
        button: words.remove,
        title: words.removeTitle(template.name),
        text: words.removeText,
        action: path(`templates/${template.id}/remove`),
      })
    }</div>
${byApi(call, apiCall(template))}`,
  })
}

function apiCall({ id, kind }: ShownTemplate) {
  return { method: 'GET', path: kind === 'merge' ? `/v2/template/${id}` : `/v3/templates/${id}` } as const
}

/** All that is wrong with the stored texts, also while the test data has a mistake of its own. */
function failingNote({ icon, language }: AccountCall, problem: string): Html {
  const words = templatesWords(language)
  const lines = problem.split('\n').map((line) => html`<li>${foreign(line)}</li>`)
  return html`<div class="note bad">${icon('warn', 'bad')}<div><p>${words.failsText}</p><ul>${lines}</ul></div></div>`
}

function activates({ icon, language, path }: AccountCall, { id }: ShownTemplate, version: ShownVersion): Html {
  const at = path(`templates/${id}/versions/${version.id}/activate`)
  return html`<form method="post" action="${at}"><button class="btn" type="submit">${icon('check')}${templatesWords(language).activate}</button></form>`
}

/** Of a version that is too large to be edited here: how it looks, and the reasons why messages would fail. */
function tooLarge(call: AccountCall, { template, version, texts, shown }: Edited & { version: ShownVersion }): Html {
  const { format, icon, language, may, path } = call
  const words = templatesWords(language)
  const at = path(`templates/${template.id}/versions/${version.id}`)
  const test =
    may('send') &&
    html`<form class="push" method="post" action="${at}/test"><button class="btn s" type="submit">${icon('send')}${words.test}</button></form>`
  return html`<section class="box"><header><h2>${words.preview}</h2><p>${words.tooLarge(format.size(octetsOf(texts)))}</p>${test}</header>
    <iframe class="frame" sandbox="" src="${at}/preview" title="${words.preview}"></iframe>${hints(call, shown)}</section>`
}

function versionList(call: AccountCall, { id, versions }: ShownTemplate, shown: ShownVersion | undefined): Html {
  const { format, icon, language, path } = call
  const words = templatesWords(language)
  return html`<section class="box"><header><h2>${words.versions}</h2></header>
    <div class="scroll" tabindex="0" role="region" aria-label="${words.versions}"><table class="hov"><tbody>${versions
      .slice(0, 100)
      .map(
        (version) =>
          html`<tr${version.id === shown?.id && html` aria-selected="true"`}><td><a class="go" href="${path(`templates/${id}/versions/${version.id}`)}">
          ${foreign(words.versionName(version.name))}</a></td><td>${
            version.active && html`<span class="state good">${icon('check', 'good')}<span>${words.active}</span></span>`
          }${version.problem !== null && failing(call)}</td><td class="n faint">${format.time(version.at)}</td><td class="n">${
            shown !== undefined &&
            version.id !== shown.id &&
            html`<a class="btn s" href="${path(`templates/${id}/compare`)}?from=${version.id}&amp;to=${shown.id}"
            aria-label="${words.compareWith}: ${words.versionName(version.name)}">${words.compareWith}</a>`
          }</td></tr>`,
      )}</tbody></table></div></section>`
}
