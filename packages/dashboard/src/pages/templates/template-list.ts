import type { AnyTemplate } from '@postrider/core'
import { foreign, type Html, html } from '@postrider/ui'
import { type Answer, page } from '../../frame/answer.ts'
import type { AccountCall } from '../../frame/call.ts'
import { offsetOf, pager } from '../../frame/pager.ts'
import { byApi, emptyBox, pageHead } from '../../frame/parts.ts'
import { failing } from './live-parts.ts'
import { templatesWords } from './templates-words.ts'

const PAGE = 50

/** The templates of both APIs, the one that was changed last first. */
export async function templateList(call: AccountCall): Promise<Answer> {
  const { account: own, core, icon, language, may, path, query } = call
  const words = templatesWords(language)
  const offset = offsetOf(query, PAGE)
  const { templates, total } = await core.templates.all(own.id, { limit: PAGE, offset })
  const add =
    may('templates') && html`<a class="btn main" href="${path('templates/new')}">${icon('plus')}${words.add}</a>`
  return page({
    title: words.title,
    body: html`${pageHead(words.title, words.lead, total > 0 && add)}${
      templates.length === 0
        ? emptyBox(call, 'template', words.none, words.noneText, add)
        : html`<section class="box">${table(call, templates)}
          ${pager(call, { at: 'templates', offset, limit: PAGE, total })}</section>`
    }
${byApi(call, { method: 'GET', path: '/v3/templates?generations=dynamic' }, { method: 'GET', path: '/v2/template' })}`,
  })
}

function table(call: AccountCall, templates: readonly AnyTemplate[]): Html {
  const { format, language, path } = call
  const words = templatesWords(language)
  return html`<div class="scroll" tabindex="0" role="region" aria-label="${words.title}"><table class="hov"><thead><tr><th>${words.name}</th>
    <th>${words.kind}</th><th class="wide-only">${words.subject}</th><th class="wide-only">${words.id}</th><th class="n wide-only">${words.versions}</th>
    <th class="n">${words.changed}</th></tr></thead><tbody>${templates.map(
      ({ id, kind, name, subject, versions, fails, updatedAt }) =>
        html`<tr><td class="any"><a class="go" href="${path(`templates/${id}`)}">${foreign(name)}</a>${fails && failing(call)}</td>
        <td class="dim">${words.kindNames[kind]}</td>
        <td class="any dim wide-only">${foreign(subject ?? '')}</td><td class="wide-only mono faint">${id}</td>
        <td class="n wide-only dim">${format.number(versions)}</td><td class="n faint">${format.ago(updatedAt)}</td></tr>`,
    )}</tbody></table></div>`
}
