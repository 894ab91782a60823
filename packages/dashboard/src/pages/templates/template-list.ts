import { foreign, type Html, html } from '@postrider/ui'
import { type Answer, page } from '../../frame/answer.ts'
import { type AccountCall, field } from '../../frame/call.ts'
import { offsetOf, pager } from '../../frame/pager.ts'
import { byApi, emptyBox, pageHead } from '../../frame/parts.ts'
import { templatesWords } from './templates-words.ts'

const PAGE = 50

interface Row {
  readonly id: string
  readonly name: string
  readonly subject: string
  readonly versions: string
  readonly updatedAt: Date
  readonly legacy: boolean
}

/** The templates of the v3 API, newest first, or with `kind=merge` those of the v2 API. */
export async function templateList(call: AccountCall): Promise<Answer> {
  const { icon, language, may, path, query } = call
  const words = templatesWords(language)
  const isMerge = field(query, 'kind') === 'merge'
  const offset = offsetOf(query, PAGE)
  const { rows, total } = await (isMerge ? mergeRows(call, offset) : editableRows(call, offset))
  const add =
    may('templates') && html`<a class="btn main" href="${path('templates/new')}">${icon('plus')}${words.add}</a>`
  const seg = html`<nav class="seg" aria-label="${words.kind}"><a href="${path('templates')}"${!isMerge && html` aria-current="true"`}>
    ${words.dynamicTab}</a><a href="${path('templates')}?kind=merge"${isMerge && html` aria-current="true"`}>${words.mergeTab}</a></nav>`
  return page({
    title: words.title,
    body: html`${pageHead(words.title, words.lead, html`${seg}${total > 0 && add}`)}${
      rows.length === 0
        ? emptyBox(call, 'template', words.none, isMerge ? words.noneMerge : words.noneText, add)
        : html`<section class="box">${table(call, rows)}
          ${pager(call, { at: 'templates', offset, limit: PAGE, total, query: isMerge ? { kind: 'merge' } : {} })}</section>`
    }
${byApi(call, isMerge ? { method: 'GET', path: '/v2/template' } : { method: 'GET', path: '/v3/templates?generations=dynamic' })}`,
  })
}

function table(call: AccountCall, rows: readonly Row[]): Html {
  const { format, language, path } = call
  const words = templatesWords(language)
  return html`<div class="scroll" tabindex="0" role="region" aria-label="${words.title}"><table class="hov"><thead><tr><th>${words.name}</th>
    <th class="wide-only">${words.subject}</th><th class="wide-only">${words.id}</th><th class="wide-only">${words.versions}</th><th class="n">
    ${words.changed}</th></tr></thead><tbody>${rows.map(
      ({ id, name, subject, versions, updatedAt, legacy }) =>
        html`<tr><td class="any"><a class="go" href="${path(`templates/${id}`)}">${foreign(name)}</a>${
          legacy &&
          html` <span class="badge">
        ${words.kinds.legacy}</span>`
        }</td><td class="any dim wide-only">${foreign(subject)}</td><td class="wide-only mono faint">${id}</td>
        <td class="wide-only dim">${versions}</td><td class="n faint">${format.ago(updatedAt)}</td></tr>`,
    )}</tbody></table></div>`
}

async function editableRows({ core, account: own, language }: AccountCall, offset: number) {
  const words = templatesWords(language)
  const question = { accountId: own.id, generations: ['dynamic', 'legacy'], limit: PAGE, offset } as const
  const { templates, total } = await core.editableTemplates.overview(question)
  const rows = templates.map(({ generation, subject, versions, ...one }): Row => {
    return {
      ...one,
      subject: subject ?? '',
      versions: words.versionCount(versions),
      legacy: generation === 'legacy',
    }
  })
  return { rows, total }
}

async function mergeRows({ core, account: own, language }: AccountCall, offset: number) {
  const { templates, total } = await core.templates.list(own.id, { limit: PAGE, offset })
  const words = templatesWords(language)
  const rows = templates.map(({ id, subject, version, ...one }): Row => {
    const versions = words.versionActive(version)
    return { ...one, id: String(id), subject: subject ?? '', versions, legacy: false }
  })
  return { rows, total }
}
