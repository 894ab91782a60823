import { checkField, foreign, type Html, html, inputField, textField, type Value } from '@postrider/ui'
import { type Answer, page } from '../../frame/answer.ts'
import { type AccountCall, type Form, field } from '../../frame/call.ts'
import { ask, byApi, copyable, pageHead, problemNote } from '../../frame/parts.ts'
import { fitsForm, octetsOf } from './fits-form.ts'
import {
  type Preview,
  previewOf,
  readTexts,
  type ShownTemplate,
  type ShownVersion,
  type TemplateTexts,
} from './template-kinds.ts'
import { templatesWords } from './templates-words.ts'

const EMPTY: TemplateTexts = { subject: '', html: '', plain: '', generatePlain: true, testData: '' }

/** The texts of a submitted form, with the line ends of templates: browsers send CRLF. */
export function textsOf(form: Form): TemplateTexts {
  const text = (name: string) => (typeof form[name] === 'string' ? form[name] : '').replaceAll('\r\n', '\n')
  return {
    subject: field(form, 'subject'),
    html: text('html'),
    plain: text('plain'),
    generatePlain: field(form, 'generatePlain') === 'on',
    testData: text('testData').trim(),
  }
}

/** The editor of a version, with a preview of what is saved. `problem`: the reason why an action was refused. */
export async function versionPage(
  call: AccountCall,
  template: ShownTemplate,
  version: ShownVersion | undefined,
  problem?: string,
): Promise<Answer> {
  const { form, language, may, path } = call
  const words = templatesWords(language)
  const stored = version ? await readTexts(call, template, version.id) : EMPTY
  const shown = version && (await previewOf(call, template, version.id, stored))
  const texts = problem !== undefined && form.html !== undefined ? textsOf(form) : stored
  const state = version === undefined ? words.noVersion : version.active ? words.isActive : words.isNotActive
  return page({
    title: template.name,
    status: problem === undefined ? 200 : 400,
    crumbs: [[words.title, path(`templates${template.kind === 'merge' ? '?kind=merge' : ''}`)]],
    body: html`${pageHead(
      html`${foreign(template.name)}`,
      html`${version && words.versionName(version.name)} ${state}`,
      version && buttons(call, template, version),
    )}
${problemNote(call, problem)}
${fitsForm(texts) ? (version || may('templates')) && editor(call, template, version, texts, shown) : version && tooLarge(call, template, version, texts, shown)}
${versionList(call, template, version)}
<div class="row">${copyable(call, template.id, words.id)}${
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

function buttons({ icon, language, may, path }: AccountCall, { id }: ShownTemplate, version: ShownVersion): Html {
  const words = templatesWords(language)
  const at = path(`templates/${id}/versions/${version.id}`)
  return html`${may('send') && html`<form method="post" action="${at}/test"><button class="btn" type="submit">${icon('send')}${words.test}</button></form>`}${
    may('templates') &&
    !version.active &&
    html`<form method="post" action="${at}/activate"><button class="btn" type="submit">${icon('check')}${words.activate}</button></form>`
  }`
}

/** Of a version that is too large to be edited here: how it looks, and the reasons why messages would fail. */
function tooLarge(
  call: AccountCall,
  template: ShownTemplate,
  version: ShownVersion,
  texts: TemplateTexts,
  shown: Preview | undefined,
): Html {
  const { format, language, path } = call
  const words = templatesWords(language)
  const at = path(`templates/${template.id}/versions/${version.id}`)
  return html`<section class="box"><header><h2>${words.preview}</h2><p>${words.tooLarge(format.size(octetsOf(texts)))}</p></header>
    <iframe class="frame" sandbox="" src="${at}/preview" title="${words.preview}"></iframe>${hints(call, shown)}</section>`
}

/** The form of a version; without one, of the first. */
function editor(
  call: AccountCall,
  template: ShownTemplate,
  version: ShownVersion | undefined,
  texts: TemplateTexts,
  shown: Preview | undefined,
): Html {
  const { language, path } = call
  const words = templatesWords(language)
  const { kind } = template
  const at = path(`templates/${template.id}/versions${version ? `/${version.id}` : ''}`)
  const canPreview = version !== undefined && kind !== 'merge' && call.may('templates')
  const previews = html`<button class="btn s push" type="submit" formaction="${at}/preview" formtarget="preview" data-previews>${words.preview}</button>`
  const plain = { name: 'plain', label: words.plain, value: texts.plain, rows: 8 }
  const fields = html`${inputField({
    name: 'subject',
    label: words.subject,
    value: texts.subject,
    maxlength: 1000,
    ...(shown && shown.subject !== texts.subject ? { hint: words.subjectShown(shown.subject) } : {}),
  })}
<section class="box"><header><h2>${words.html}</h2>${canPreview ? previews : version && html`<p class="push wide-only">${words.previewOf}</p>`}</header>${
    version
      ? html`<div class="edit"><div><label class="sr" for="f-html">${words.html}</label><textarea class="in" id="f-html" name="html" spellcheck="false">
${texts.html}</textarea></div><iframe class="frame" name="preview" sandbox="" src="${at}/preview" title="${words.preview}"></iframe></div>`
      : html`<div class="pad">${textField({ name: 'html', label: words.html, value: texts.html, rows: 16 })}</div>`
  }${hints(call, shown)}</section>
${
  kind === 'merge'
    ? html`<section class="box"><div class="pad">${textField({ ...plain, hint: words.plainHint })}</div></section>`
    : html`<div class="cols even"><section class="box w7"><div class="pad stack s">${textField(plain)}
    ${checkField({ name: 'generatePlain', label: words.generatePlain, hint: words.generateHint, checked: texts.generatePlain })}</div></section>
    <section class="box w5"><div class="pad">
    ${textField({
      name: 'testData',
      label: words.testData,
      value: texts.testData,
      hint: words.testDataHint,
      rows: 8,
      placeholder: '{"name": "Ada"}',
    })}</div></section></div>`
}`
  if (!call.may('templates')) return html`<fieldset class="opts" disabled>${fields}</fieldset>`
  return html`<form class="stack" method="post" action="${at}" data-unsaved>
${fields}
${saveButtons(call, kind === 'merge', version)}</form>`
}

/** The reasons why messages would fail, and the names without a value. */
function hints({ icon, language }: AccountCall, shown: Preview | undefined): Value {
  const words = templatesWords(language)
  if (!shown) return null
  const { missing, problems } = shown
  if (problems.length > 0)
    return html`<footer class="row gap"><span class="state bad">${icon('warn', 'bad')}<span>${words.fails}</span></span><span class="any">
      ${problems.join(' ')}</span></footer>`
  if (missing.length === 0)
    return html`<footer class="row gap"><span class="state good">${icon('check', 'good')}<span>${words.noHints}</span></span></footer>`
  return html`<footer class="row gap"><span class="state wait">${icon('warn', 'wait')}<span>${words.missing(missing.length)}</span></span>
    <span class="any">${missing.map((name) => html`<code>${name}</code> `)}${words.missingText}</span></footer>`
}

/** The active version is what messages use: the safe button makes a new version. */
function saveButtons({ language }: AccountCall, isMerge: boolean, version: ShownVersion | undefined): Html {
  const words = templatesWords(language)
  if (isMerge || !version)
    return html`<div class="row"><button class="btn main" type="submit" name="as" value="new">${words.saveNew}</button></div>`
  const { active } = version
  const inPlace = html`<button class="btn${active ? '' : ' main'}" type="submit">${active ? words.saveActive : words.save}</button>`
  const asNew = html`<button class="btn${active ? ' main' : ''}" type="submit" name="as" value="new">${words.saveNew}</button>`
  return html`<div class="row">${active ? [asNew, inPlace] : [inPlace, asNew]}</div>`
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
          }</td><td class="n faint">${format.time(version.at)}</td><td class="n">${
            shown !== undefined &&
            version.id !== shown.id &&
            html`<a class="btn s" href="${path(`templates/${id}/compare`)}?from=${version.id}&amp;to=${shown.id}"
            aria-label="${words.compareWith}: ${words.versionName(version.name)}">${words.compareWith}</a>`
          }</td></tr>`,
      )}</tbody></table></div></section>`
}
