import { foreign, type Html, html, inputField, type Value } from '@postrider/ui'
import type { AccountCall } from '../../frame/call.ts'
import type { Preview, TextProblem } from './preview.ts'
import type { ShownTemplate, TemplateTexts } from './template-kinds.ts'
import { templatesWords } from './templates-words.ts'
import { fieldOf, textAt, valuesOf } from './test-data.ts'

/** Characters of the plain text that are shown. */
const MAX_TEXT = 100_000

/** The parts of the editor that follow what is typed, each with its id: a script puts them in the place of those on the page. */
export function liveParts(call: AccountCall, template: ShownTemplate, texts: TemplateTexts, shown: Preview): Html {
  return html`${hints(call, shown)}${textShown(shown)}${subjectShown(call, texts, shown)}${nameFields(call, template, texts, shown)}`
}

/** The mark of a version from which no message can be built. */
export function failing({ icon, language }: AccountCall): Html {
  return html`<span class="state bad">${icon('warn', 'bad')}<span>${templatesWords(language).fails}</span></span>`
}

/** The reasons why messages would fail, with their places, and the names without a value. */
export function hints(call: AccountCall, { missing, problems }: Preview): Html {
  const { icon, language } = call
  const words = templatesWords(language)
  const foot = (content: Value) => html`<footer class="row gap" id="hints" role="status">${content}</footer>`
  if (problems.length > 0)
    return foot(html`${failing(call)}<span class="any">
      ${problems.map((problem) => html`${placeOf(problem)}${problem.text} `)}</span>`)
  if (missing.length === 0)
    return foot(html`<span class="state good">${icon('check', 'good')}<span>${words.noHints}</span></span>`)
  return foot(html`<span class="state wait">${icon('warn', 'wait')}<span>${words.missing(missing.length)}</span></span>
    <span class="any">${missing.map((name) => html`<code>${name}</code> `)}${words.missingText}</span>`)

  function placeOf({ part, line, column }: TextProblem): Value {
    if (part === undefined) return null
    if (line === undefined || column === undefined) return `${words[part]}: `
    return html`<a href="#f-${part}" data-line="${line}" data-column="${column}">${words[part]}, ${words.place(line, column)}</a>: `
  }
}

/** The text part, as the frame has the HTML. */
export function textShown({ text }: Preview): Html {
  return html`<pre class="plain" id="text-shown" tabindex="0">${text.slice(0, MAX_TEXT)}</pre>`
}

export function subjectShown({ language }: AccountCall, { subject }: TemplateTexts, shown: Preview): Html {
  const said = shown.subject === subject ? '' : templatesWords(language).subjectShown(shown.subject)
  return html`<p class="hint" id="subject-shown">${foreign(said)}</p>`
}

/** A field for each name that the texts take from the test data. Lists and objects are in the JSON only. */
export function nameFields(
  { language }: AccountCall,
  { kind }: ShownTemplate,
  { testData }: TemplateTexts,
  { names }: Preview,
): Html {
  const words = templatesWords(language)
  const read = valuesOf(testData)
  const values = read.ok ? read.values : {}
  const fields = names.map(({ name, kind: use }) => {
    const value = use === 'block' ? undefined : textAt(values, kind, name)
    if (value === undefined) return html`<p class="hint"><code>${name}</code> ${words.inJson}</p>`
    return inputField({ name: fieldOf(name), label: name, value, maxlength: 10_000 })
  })
  return html`<div class="names" id="names">${read.ok && (fields.length > 0 ? fields : html`<p class="hint">${words.noNames}</p>`)}</div>`
}
