import { checkField, type Html, html, inputField, textField, type Value } from '@postrider/ui'
import { type AccountCall, type Form, field } from '../../frame/call.ts'
import { hints, nameFields, subjectShown, textShown } from './live-parts.ts'
import type { Preview } from './preview.ts'
import type { ShownTemplate, ShownVersion, TemplateKind, TemplateTexts } from './template-kinds.ts'
import { templatesWords } from './templates-words.ts'
import { DIGEST_FIELD, digestOf, testDataOf } from './test-data.ts'

/** The texts of a submitted form, with the line ends of templates: browsers send CRLF. */
export function textsOf(form: Form, kind: TemplateKind): TemplateTexts {
  const text = (name: string) => (typeof form[name] === 'string' ? form[name] : '').replaceAll('\r\n', '\n')
  return {
    subject: field(form, 'subject'),
    html: text('html'),
    plain: text('plain'),
    generatePlain: field(form, 'generatePlain') === 'on',
    testData: testDataOf(form, kind, text('testData').trim()),
  }
}

/** The contents of the editor: the version, if the template has one; the texts, and how they look. `isUnsaved`: they are not those of the version. */
export interface Edited {
  readonly template: ShownTemplate
  readonly version: ShownVersion | undefined
  readonly texts: TemplateTexts
  readonly shown: Preview
  readonly isUnsaved: boolean
}

/** The form of a version with its preview; without a version, of the first. */
export function editor(call: AccountCall, edited: Edited): Html {
  const { language, path } = call
  const words = templatesWords(language)
  const { template, version, texts, shown, isUnsaved } = edited
  const { id, kind } = template
  const at = path(`templates/${id}/versions${version ? `/${version.id}` : ''}`)
  const isMerge = kind === 'merge'
  const plain = { name: 'plain', label: words.plain, value: texts.plain, rows: 8 }
  const fields = html`<div>${inputField({ name: 'subject', label: words.subject, value: texts.subject, maxlength: 1000 })}
  ${subjectShown(call, texts, shown)}</div>
${htmlPart(call, edited, at)}
<div class="cols even"><section class="box w7"><div class="pad stack s">${textField(isMerge ? { ...plain, hint: words.plainHint } : plain)}
${!isMerge && checkField({ name: 'generatePlain', label: words.generatePlain, hint: words.generateHint, checked: texts.generatePlain })}</div></section>
${testDataPart(call, edited)}</div>`
  if (!call.may('templates')) return html`<fieldset class="opts" disabled>${fields}</fieldset>`
  return html`<form class="stack" method="post" action="${at}" data-unsaved="${isUnsaved && 'typed'}" data-kind="${kind}" data-checks="${
    version && `${at}/check`
  }">${fields}
${buttons(call, edited, at)}</form>`
}

function htmlPart(call: AccountCall, { version, texts, shown }: Edited, at: string): Html {
  const words = templatesWords(call.language)
  const area = html`<div class="ink"><label class="sr" for="f-html">${words.html}</label><textarea class="in" id="f-html" name="html" spellcheck="false">
${texts.html}</textarea></div>`
  if (!version)
    return html`<section class="box"><header><h2>${words.html}</h2></header>${area}${hints(call, shown)}</section>`
  const previews =
    call.may('templates') &&
    html`<button class="btn s" type="submit" formaction="${at}/preview" formtarget="preview" data-previews>${words.preview}</button>`
  const view = (value: 'wide' | 'phone' | 'text') =>
    html`<label><input type="radio" name="view" value="${value}"${value === 'wide' && html` checked`}>${words.views[value]}</label>`
  return html`<section class="box"><header><h2>${words.html}</h2><div class="row tight push">${previews}<div class="seg" role="radiogroup"
    aria-label="${words.preview}">${view('wide')}${view('phone')}${view('text')}</div></div></header>
<div class="edit">${area}<div class="looks"><iframe class="frame" name="preview" sandbox="" src="${at}/preview" title="${words.preview}"></iframe>
${textShown(shown)}</div></div>${hints(call, shown)}</section>`
}

function testDataPart(call: AccountCall, { template, texts, shown }: Edited): Value {
  const words = templatesWords(call.language)
  // Legacy templates of the v3 API have no data: their tags are replaced in the message.
  if (template.kind === 'legacy') return null
  const inFields = shown.names.length > 0 && shown.names.every(({ kind }) => kind !== 'block')
  const json = textField({
    name: 'testData',
    label: words.json,
    value: texts.testData,
    rows: 8,
    placeholder: template.kind === 'merge' ? '{"NAME": "Ada"}' : '{"name": "Ada"}',
  })
  return html`<section class="box w5"><header><h2>${words.testData}</h2></header><div class="pad stack s"><p class="hint">${words.testDataHint}</p>
${nameFields(call, template, texts, shown)}<input type="hidden" name="${DIGEST_FIELD}" value="${digestOf(texts.testData)}">
<details${!inFields && html` open`}><summary class="q">${words.asJson}</summary>${json}</details></div></section>`
}

/** They stay in view. The active version is what messages use: the safe button makes a new version. */
function buttons({ icon, language, may }: AccountCall, { template, version }: Edited, at: string): Html {
  const words = templatesWords(language)
  const test =
    version !== undefined &&
    may('send') &&
    html`<button class="btn push" type="submit" formaction="${at}/test">${icon('send')}${words.test}</button>`
  const bar = (saves: Value) => html`<div class="savebar row">${saves}${test}</div>`
  if (template.kind === 'merge' || !version)
    return bar(html`<button class="btn main" type="submit" name="as" value="new">${words.saveNew}</button>`)
  const { active } = version
  const inPlace = html`<button class="btn${active ? '' : ' main'}" type="submit">${active ? words.saveActive : words.save}</button>`
  const asNew = html`<button class="btn${active ? ' main' : ''}" type="submit" name="as" value="new">${words.saveNew}</button>`
  return bar(active ? [asNew, inPlace] : [inPlace, asNew])
}
