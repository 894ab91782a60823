import { confirmProblemText, DELIVERY_CLASSES, QUEUE_ACTIONS, type QueueAction, type QueueJob } from '@postrider/core'
import { foreign, type Html, html } from '@postrider/ui'
import { type Answer, page, redirect } from '../../frame/answer.ts'
import { attempt } from '../../frame/attempt.ts'
import { field, type UserCall } from '../../frame/call.ts'
import { notFound } from '../../frame/error-pages.ts'
import { proved } from '../../frame/forms/proof.ts'
import { idIn, operatorOf, operatorPath } from '../../frame/operator.ts'
import { ask, byApi, emptyBox, pageHead, problemNote } from '../../frame/parts.ts'
import { type DashboardRoute, operators } from '../../frame/routes.ts'
import { queueWords } from '../queue/queue-words.ts'
import { jobForm, selectorsOf } from './job-form.ts'
import { jobsWords } from './jobs-words.ts'
import { planPage } from './plan-page.ts'

/** Actions on many deliveries of the queue: each is planned first, and begins when its plan is confirmed. */
export const QUEUE_JOBS: readonly DashboardRoute[] = [
  operators('GET', '/operator/queue/jobs', (call) => jobList(call)),
  operators('GET', '/operator/queue/jobs/new', (call) => jobForm(call, actionIn(field(call.query, 'action')))),
  operators('POST', '/operator/queue/plans', makePlan),
  operators('POST', '/operator/queue/plans/:id/confirm', (call) => proved(call, confirmPlan)),
  operators('POST', '/operator/queue/jobs/:id/stop', stopJob),
]

function actionIn(text: string): QueueAction {
  return QUEUE_ACTIONS.find((one) => one === text) ?? 'flush'
}

async function jobList(call: UserCall, problem?: string): Promise<Answer> {
  const { core, icon, language } = call
  const words = jobsWords(language)
  const jobs = await core.queue.jobs()
  const { pools } = await core.sources.read()
  const names = new Map(pools.map(({ id, name }) => [id, name]))
  const plan = html`<a class="btn main" href="${operatorPath('queue/jobs/new')}">${icon('plus')}${words.plan}</a>`
  return page({
    title: words.title,
    crumbs: [[queueWords(language).title, operatorPath('queue')]],
    ...(jobs.some(({ state }) => state === 'running') ? { live: 'clock' } : {}),
    status: problem === undefined ? 200 : 409,
    body: html`${pageHead(words.title, words.lead, jobs.length > 0 && plan)}${problemNote(call, problem)}
${jobs.length === 0 ? emptyBox(call, 'queue', words.none, words.noneText, plan) : html`<section class="box">${table(call, jobs, names)}</section>`}
${byApi(call, { method: 'GET', path: '/operator/v1/jobs' }, { method: 'POST', path: '/operator/v1/plans', body: { action: 'flush', place: 'google' } })}`,
  })
}

function table(call: UserCall, jobs: readonly QueueJob[], pools: ReadonlyMap<number, string>): Html {
  const { format, language } = call
  const words = jobsWords(language)
  return html`<div class="scroll" tabindex="0" role="region" aria-label="${words.title}"><table><thead><tr><th class="wide-only">${words.job}</th><th>
    ${words.action}</th><th>${words.state}</th><th>${words.progress}</th><th class="n wide-only">${words.began}</th><th><span class="sr">${words.stop}
    </span></th></tr></thead><tbody>${jobs.map(
      (job) =>
        html`<tr><td class="wide-only faint">${job.id}</td><td><b>${words.actions[job.action]}</b><small class="any">${filterText(call, job, pools)}
        </small></td><td>${stateMark(call, job)}</td><td>${progress(call, job)}</td><td class="n wide-only faint">${format.time(job.createdAt)}</td>
        <td class="n">${job.state === 'running' && stopButton(call, job)}</td></tr>`,
    )}</tbody></table></div>`
}

function filterText({ language }: UserCall, { filter }: QueueJob, pools: ReadonlyMap<number, string>): Html | string {
  const words = jobsWords(language)
  const names: Readonly<Record<string, string>> = words.selectors
  const given = Object.entries(filter).filter(([, value]) => value !== undefined)
  if (given.length === 0) return words.everything
  return html`${given.map(([name, value], at) => html`${at > 0 && ', '}${names[name] ?? name}: ${foreign(valueText(name, value))}`)}`

  function valueText(name: string, value: unknown): string {
    if (name === 'class') return DELIVERY_CLASSES[Number(value)] ?? String(value)
    if (name === 'toPool') return value === null ? words.byRules : (pools.get(Number(value)) ?? String(value))
    return String(value)
  }
}

function stateMark({ icon, language }: UserCall, { state }: QueueJob): Html {
  const marks = {
    planned: ['clock', 'idle'],
    running: ['play', 'wait'],
    done: ['check', 'good'],
    stopped: ['pause', 'idle'],
  } as const
  const [sign, tone] = marks[state]
  return html`<span class="state ${tone}">${icon(sign, tone)}<span>${jobsWords(language).states[state]}</span></span>`
}

function progress({ format, language }: UserCall, { id, done, planned }: QueueJob): Html {
  const words = jobsWords(language)
  const text = words.of(format.number(done), format.number(planned))
  return html`<div class="stack xs"><progress max="${Math.max(1, planned)}" value="${Math.min(done, planned)}" aria-label="${words.job} ${id}">
    </progress><small>${text}</small></div>`
}

function stopButton({ language }: UserCall, { id }: QueueJob): Html {
  const words = jobsWords(language)
  return ask({
    language,
    id: `stop-${id}`,
    button: words.stop,
    title: words.stopTitle(id),
    text: words.stopText,
    action: operatorPath(`queue/jobs/${id}/stop`),
  })
}

async function makePlan(call: UserCall): Promise<Answer> {
  const { core, form } = call
  const action = actionIn(field(form, 'action'))
  const made = await attempt(() => core.queue.plan(action, selectorsOf(form, action)))
  return made.ok ? planPage(call, made.value) : jobForm(call, action, made.problem)
}

async function confirmPlan(call: UserCall): Promise<Answer> {
  const { core, form, params } = call
  const action = actionIn(field(form, 'action'))
  const id = idIn(params.id)
  if (id === undefined) return notFound(call)
  const result = await core.queue.confirm(id, action, operatorOf(call))
  if (!('why' in result)) return redirect(operatorPath('queue/jobs'), 'began')
  return result.why === 'unknown' ? notFound(call) : jobList(call, confirmProblemText(result, id, action))
}

async function stopJob(call: UserCall): Promise<Answer> {
  const id = idIn(call.params.id)
  const stopped = id !== undefined && (await call.core.queue.stop(id, operatorOf(call)))
  // A job that has just ended needs no stop; one that never was is not found.
  if (stopped || (id !== undefined && (await call.core.queue.job(id))))
    return redirect(operatorPath('queue/jobs'), 'stopped')
  return notFound(call)
}
