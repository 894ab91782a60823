import { BeyondShare, type Generation, type TemplateName } from '@postrider/core'
import type { AccountCall } from '../../frame/call.ts'
import { evenIfLarge } from '../../frame/forms/even-if-large.ts'
import type { ShownTemplate, TemplateTexts } from './template-kinds.ts'
import { templatesWords } from './templates-words.ts'
import { valuesOf } from './test-data.ts'

/** The texts as a recipient receives them, and the names without a value. */
export interface Preview {
  readonly subject: string
  readonly html: string
  readonly text: string
  readonly missing: readonly string[]
  /** Names that the texts take from the test data, and those of lists and objects in it. */
  readonly names: readonly TemplateName[]
  /** The reasons why messages would fail. */
  readonly problems: readonly TextProblem[]
}

/** A problem of a text, with its place if that is known; line and column count from 1. */
export interface TextProblem {
  readonly text: string
  readonly part?: 'subject' | 'html' | 'plain' | 'testData'
  readonly line?: number
  readonly column?: number
}

/** Renders texts with their test data, by the code that delivers. Invalid or too deep JSON in the test data is a problem, and nothing is filled in. */
export async function previewOf(
  call: AccountCall,
  template: ShownTemplate,
  version: string,
  texts: TemplateTexts,
): Promise<Preview> {
  const values = valuesOf(texts.testData)
  if (!values.ok) {
    const { subject, html, plain: text } = texts
    const words = templatesWords(call.language)
    return {
      subject,
      html,
      text,
      missing: [],
      names: [],
      problems: [{ text: words[values.why], part: 'testData', ...values.problem }],
    }
  }
  return template.kind === 'merge'
    ? mergePreview(call, Number(template.id), Number(version), texts, values.texts)
    : editablePreview(call, template.kind, texts)
}

async function editablePreview(
  { core, account: own }: AccountCall,
  kind: Generation,
  texts: TemplateTexts,
): Promise<Preview> {
  const { failure, ...shown } = await core.editableTemplates.preview(own.id, kind, texts)
  if (!failure) return { ...shown, problems: [] }
  const { sentence, line, column, part } = failure
  const at = part && { part: part === 'text' ? ('plain' as const) : part }
  // The sentence begins with the place.
  const text = line === undefined ? sentence : sentence.replace(/^line \d+, column \d+: /, '')
  return { ...shown, problems: [{ text, ...at, ...(line === undefined ? {} : { line, column: column ?? 1 }) }] }
}

async function mergePreview(
  call: AccountCall,
  id: number,
  version: number,
  { subject, html, plain }: TemplateTexts,
  attributes: Readonly<Record<string, string>>,
): Promise<Preview> {
  const { core, account: own } = call
  const common = { accountId: own.id, id, version, subject, attributes, generateText: false }
  const typed = { ...common, texts: { content: html, text: plain.trim() === '' ? null : plain } }
  const rendered = await core.messages.renderTemplate(typed).catch((error: unknown) => {
    // Too large for this process to fill in what is typed: the version as it is stored is filled in by another one.
    if (!(error instanceof BeyondShare)) throw error
    const input = { version, subject, attributes }
    const operation = { path: `/template/${id}/render`, scope: 'templates', input } as const
    return evenIfLarge(call, () => core.messages.renderTemplate(common), operation)
  })
  const { content, missing, names = missing, problems, text } = rendered
  // A required variable without a value is among the missing names, too.
  const others = problems.filter((problem) => !missing.some((name) => problem.includes(`attributes.${name}`)))
  return {
    subject: rendered.subject,
    html: content,
    text: text ?? '',
    missing,
    names: names.slice(0, 50).map((name) => ({ name, kind: 'text' })),
    problems: others.map((problem) => ({ text: problem })),
  }
}
