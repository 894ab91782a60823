import { Readable } from 'node:stream'
import { EXPORT_KINDS, type ExportJob } from '@postrider/core'
import { checkField, type Html, html, inputField, selectField, type Value } from '@postrider/ui'
import { type Answer, file, page, redirect } from '../../frame/answer.ts'
import { attempt } from '../../frame/attempt.ts'
import { type AccountCall, field, fields } from '../../frame/call.ts'
import { notFound } from '../../frame/error-pages.ts'
import { actButton, byApi, emptyBox, pageHead, problemNote } from '../../frame/parts.ts'
import { account, type DashboardRoute } from '../../frame/routes.ts'
import { frameWords } from '../../frame/words/frame-words.ts'
import { exportsWords } from './exports-words.ts'

export const EXPORTS: readonly DashboardRoute[] = [
  account('GET', '/exports', 'events', (call) => exportList(call)),
  account('GET', '/exports/new', 'export', async (call) => exportForm(call)),
  account('POST', '/exports', 'export', askForExport),
  account('GET', '/exports/:id/file', 'events', download),
  account('POST', '/exports/:id/cancel', 'export', cancel),
]

const PAGE = 25
const WEEK = 6 * 86_400_000
const TYPES = { json: 'application/x-ndjson', csv: 'text/csv; charset=utf-8' } as const

async function exportList(call: AccountCall, problem?: string): Promise<Answer> {
  const { core, account: own, icon, language, may, path, query } = call
  const words = exportsWords(language)
  const before = field(query, 'before') || undefined
  const listed = await attempt(() => core.exports.list(own.id, { limit: PAGE + 1, before }))
  const jobs = listed.ok ? listed.value : []
  const shown = jobs.slice(0, PAGE)
  const older = jobs.length > PAGE ? shown.at(-1)?.id : undefined
  const add = may('export') && html`<a class="btn main" href="${path('exports/new')}">${icon('plus')}${words.ask}</a>`
  const isOpen = shown.some(({ state }) => state === 'queued' || state === 'running')
  return page({
    title: words.title,
    ...(isOpen ? { live: 'clock' } : {}),
    status: problem === undefined ? 200 : 400,
    body: html`${pageHead(words.title, words.lead, shown.length > 0 && add)}${problemNote(call, problem ?? (listed.ok ? undefined : listed.problem))}
${
  shown.length === 0
    ? emptyBox(call, 'download', words.none, words.noneText, add)
    : html`<section class="box">${table(call, shown)}${foot(call, older, before !== undefined)}</section>`
}
${byApi(call, { method: 'GET', path: '/v2/stats/exports' })}`,
  })
}

function table(call: AccountCall, jobs: readonly ExportJob[]): Html {
  const { format, language } = call
  const words = exportsWords(language)
  return html`<div class="scroll" tabindex="0" role="region" aria-label="${words.title}"><table><thead><tr><th>${words.span}</th><th class="wide-only">
    ${words.events}</th><th>${words.state}</th><th class="n wide-only">${words.rows}</th><th class="n wide-only">${words.asked}</th>
    <th class="n wide-only">${words.expires}</th><th><span class="sr">${words.actions}</span></th></tr></thead><tbody>${jobs.map(
      (job) =>
        html`<tr><td>${format.period(job.firstDay, job.lastDay).join(' – ')}<small>${job.format.toUpperCase()}</small></td><td class="wide-only dim">
        ${job.kinds.length === 0 ? words.allButDeferred : job.kinds.map((kind) => kindName(call, kind)).join(', ')}</td><td>${state(call, job)}</td>
        <td class="n wide-only">${job.state === 'done' && format.number(job.rows)}</td><td class="n wide-only faint">${format.ago(job.createdAt)}</td>
        <td class="n wide-only faint">${job.state === 'done' && job.expiresAt && format.time(job.expiresAt)}</td><td class="n">${action(call, job)}</td></tr>`,
    )}</tbody></table></div>`
}

function kindName({ language }: AccountCall, kind: string): string {
  const names: Readonly<Record<string, string>> = exportsWords(language).kinds
  return names[kind] ?? kind
}

function state({ format, icon, language }: AccountCall, { state, rows, problem }: ExportJob): Html {
  const words = exportsWords(language)
  const mark = {
    queued: ['clock', 'idle'],
    running: ['clock', 'wait'],
    done: ['check', 'good'],
    failed: ['warn', 'bad'],
  } as const
  const [sign, tone] = mark[state]
  const small = state === 'running' ? words.soFar(format.number(rows)) : problem
  return html`<span class="state ${tone}">${icon(sign, tone)}<span>${words.states[state]}</span></span>${small && html`<small class="any">${small}</small>`}`
}

function action({ icon, language, may, path }: AccountCall, { id, state }: ExportJob): Value {
  const words = exportsWords(language)
  if (state === 'done')
    return html`<a class="btn s" href="${path(`exports/${id}/file`)}" download>${icon('download')}${words.download}</a>`
  return state === 'queued' && may('export') && actButton(words.cancel, path(`exports/${id}/cancel`))
}

function foot({ icon, language, path }: AccountCall, before: string | undefined, isLater: boolean): Value {
  if (before === undefined && !isLater) return null
  const words = frameWords(language)
  return html`<footer class="more"><span>${isLater && html`<a class="btn s" href="${path('exports')}">${icon('left')}${words.newest}</a>`}</span>
    <span class="acts">${before !== undefined && html`<a class="btn s" href="${path('exports')}?before=${before}">${words.older}${icon('right')}</a>`}
    </span></footer>`
}

/** The form, filled in by what was submitted, or by the link that led to it. */
function exportForm(call: AccountCall, problem?: string): Answer {
  const { form, format, language, now, path, query } = call
  const words = exportsWords(language)
  const given = problem === undefined ? query : form
  const chosen = fields(given, 'events')
  const first = field(given, 'from') || format.dayKey(new Date(now.getTime() - WEEK))
  return page({
    title: words.ask,
    status: problem === undefined ? 200 : 400,
    crumbs: [[words.title, path('exports')]],
    body: html`${pageHead(words.ask, words.askLead)}${problemNote(call, problem)}<section class="box">
      <form class="pad stack" method="post" action="${path('exports')}">
<div class="cols even"><div class="w7">${inputField({ name: 'from', label: words.first, type: 'date', value: first, required: true })}</div>
  <div class="w5">${inputField({ name: 'to', label: words.last, type: 'date', value: field(given, 'to') || format.dayKey(now), required: true })}</div></div>
<fieldset class="opts"><legend class="label">${words.events}</legend><p class="hint">${words.eventsHint}</p>${EXPORT_KINDS.map(
      (kind) =>
        checkField({ name: 'events', value: kind, label: kindName(call, kind), checked: chosen.includes(kind) }),
    )}</fieldset>
${selectField({
  name: 'format',
  label: words.format,
  value: field(given, 'format'),
  choices: (['csv', 'json'] as const).map((one) => [one, words.formats[one]] as const),
})}
<div class="row"><button class="btn main" type="submit">${words.ask}</button><a class="btn" href="${path('exports')}">${frameWords(language).cancel}
  </a></div></form></section>
${byApi(call, { method: 'POST', path: '/v2/stats/export', body: { startdate: first, callbackUrl: 'https://ship.example/done' } })}`,
  })
}

async function askForExport(call: AccountCall): Promise<Answer> {
  const { core, account: own, by, form, path } = call
  const wanted = {
    startDate: field(form, 'from'),
    endDate: field(form, 'to') || undefined,
    events: fields(form, 'events'),
    format: field(form, 'format') === 'json' ? 'json' : 'csv',
    callbackUrl: undefined,
    email: undefined,
  } as const
  const made = await attempt(() => core.exports.create(own.id, wanted, by))
  return made.ok ? redirect(path('exports'), 'exporting') : exportForm(call, made.problem)
}

async function download(call: AccountCall): Promise<Answer> {
  const { core, account: own, params } = call
  const found = await attempt(() => core.exports.file(own.id, params.id as string))
  if (!found.ok) return notFound(call)
  const { content, fileName, format } = found.value
  return file({
    type: TYPES[format],
    body: Readable.from(content, { objectMode: false }),
    headers: { 'content-disposition': `attachment; filename="${fileName}"` },
  })
}

async function cancel(call: AccountCall): Promise<Answer> {
  const { core, account: own, by, params, path } = call
  const removed = await attempt(() => core.exports.remove(own.id, params.id as string, by))
  if (removed.ok) return redirect(path('exports'), 'cancelled')
  return removed.errorName === 'exportUnknown' ? notFound(call) : exportList(call, removed.problem)
}
