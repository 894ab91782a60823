import { foreign, type Html, html, type Value } from '@postrider/ui'
import { type Answer, page } from '../../frame/answer.ts'
import { type AccountCall, field } from '../../frame/call.ts'
import { notFound } from '../../frame/error-pages.ts'
import { emptyBox, pageHead } from '../../frame/parts.ts'
import { compareLines, type DiffLine } from './line-diff.ts'
import { readTexts, type ShownTemplate, type TemplateTexts } from './template-kinds.ts'
import { templatesWords } from './templates-words.ts'

/** Lines of one text that are shown, the signs of a line, and those of all lines: an invisible sign becomes an element of its own. */
const MAX_SHOWN = 2000
const MAX_SIGNS = 1000
const MAX_ALL_SIGNS = 50_000
/** Equal lines that are shown before and after a change. */
const CONTEXT = 3

const PARTS = ['subject', 'html', 'plain', 'testData'] as const satisfies readonly (keyof TemplateTexts)[]

/** The difference between two versions of a template, `from` and `to` of the query, line by line. */
export async function comparePage(call: AccountCall, template: ShownTemplate): Promise<Answer> {
  const { language, path, query } = call
  const words = templatesWords(language)
  const find = (name: string) => template.versions.find(({ id }) => id === field(query, name))
  const [from, to] = [find('from'), find('to')]
  if (!from || !to) return notFound(call)
  const [older, newer] = await Promise.all([readTexts(call, template, from.id), readTexts(call, template, to.id)])
  const changed = PARTS.filter((part) => older[part] !== newer[part])
  const nameOf = (version: typeof from) => foreign(words.versionName(version.name))
  const back = html`<a class="btn" href="${path(`templates/${template.id}/compare`)}?from=${to.id}&amp;to=${from.id}">${words.swap}</a>`
  return page({
    title: words.compare,
    crumbs: [
      [words.title, path('templates')],
      [template.name, path(`templates/${template.id}/versions/${to.id}`)],
    ],
    body: html`${pageHead(words.compare, html`${nameOf(from)} → ${nameOf(to)}`, back)}${
      changed.length === 0
        ? emptyBox(call, 'check', words.equal, words.equalText)
        : changed.map((part) => difference(call, part, older[part], newer[part]))
    }`,
  })
}

function difference(
  { format, language }: AccountCall,
  part: (typeof PARTS)[number],
  older: string,
  newer: string,
): Html {
  const words = templatesWords(language)
  const { lines, isComplete } = compareLines(older, newer)
  const count = (kind: DiffLine['kind']) => format.number(lines.filter((line) => line.kind === kind).length)
  const near = nearChanges(lines)
  const shown = cut(near)
  const isAll = isComplete && shown.length === near.length
  return html`<section class="box"><header><h2>${words[part]}</h2><p>+${count('added')} −${count('removed')}</p></header>
    <div class="code" tabindex="0" role="region" aria-label="${words[part]}"><pre>${shown.map((line) =>
      line === null ? html`<b>⋯</b>\n` : lineOf(line),
    )}</pre></div>${!isAll && html`<footer>${words.compareCut}</footer>`}</section>`
}

function lineOf({ kind, text }: DiffLine): Value {
  // A tab of an indented text is no trick.
  const visible = text.slice(0, MAX_SIGNS).replaceAll('\t', '⇥ ')
  const cut = foreign(text.length > MAX_SIGNS ? `${visible}…` : visible)
  if (kind === 'same') return html`  ${cut}\n`
  return kind === 'added' ? html`<ins>+ ${cut}</ins>\n` : html`<del>− ${cut}</del>\n`
}

/** The first lines, as many as are shown. */
function cut(lines: readonly (DiffLine | null)[]): readonly (DiffLine | null)[] {
  let signs = 0
  const end = lines.findIndex((line, at) => {
    signs += Math.min(MAX_SIGNS, line?.text.length ?? 0)
    return at >= MAX_SHOWN || signs > MAX_ALL_SIGNS
  })
  return end < 0 ? lines : lines.slice(0, end)
}

/** The changed lines with those around them; null where equal lines are left out. */
function nearChanges(lines: readonly DiffLine[]): readonly (DiffLine | null)[] {
  const isNear = new Uint8Array(lines.length)
  for (const [at, { kind }] of lines.entries()) {
    if (kind !== 'same') isNear.fill(1, Math.max(0, at - CONTEXT), at + CONTEXT + 1)
  }
  return lines.flatMap((line, at) => (isNear[at] ? [line] : at === 0 || isNear[at - 1] ? [null] : []))
}
