import type { DatabaseHealth, ListedProcess, WorkerSummary } from '@postrider/core'
import { foreign, type Html, html, type Value } from '@postrider/ui'
import { type Answer, page, redirect } from '../../frame/answer.ts'
import { attempt } from '../../frame/attempt.ts'
import type { UserCall } from '../../frame/call.ts'
import { field } from '../../frame/call.ts'
import { operatorOf, operatorPath } from '../../frame/operator.ts'
import { pageHead } from '../../frame/parts.ts'
import { type DashboardRoute, operators } from '../../frame/routes.ts'
import { clockPart } from './clock-part.ts'
import { processesWords } from './processes-words.ts'

export const PROCESSES: readonly DashboardRoute[] = [
  operators('GET', '/operator/processes', processes),
  operators('POST', '/operator/processes/clock', moveClock),
]

/** Seconds from which an open transaction is worth a look, and weeks of partitions that are too few. */
const LONG_TRANSACTION = 300
const FEW_WEEKS = 2

async function processes(call: UserCall, problem?: string): Promise<Answer> {
  const { core, config, language } = call
  const words = processesWords(language)
  const [running, workers, database, time] = await Promise.all([
    core.listProcesses(),
    core.deliveries.listWorkers(),
    core.databaseHealth(),
    config.delivery.kind === 'sandbox' ? core.serviceTime.show() : undefined,
  ])
  return page({
    title: words.title,
    live: 'clock',
    ...(problem === undefined ? {} : { status: 400 }),
    body: html`${pageHead(words.title, words.lead)}${readiness(call)}
<section class="box"><header><h2>${words.running}</h2></header>${processTable(call, running)}</section>
<section class="box"><header><h2>${words.workers}</h2><p>${words.workersText}</p></header>${
      workers.length === 0
        ? html`<div class="void"><p>
  ${words.noWorkers}</p></div>`
        : workerTable(call, workers)
    }</section>
<section class="box"><header><h2>${words.database}</h2></header>${databasePart(call, database)}</section>
${time && clockPart(call, time, problem)}
<p class="hint"><b>${words.tools}</b>: ${words.toolsText}</p>`,
  })
}

async function moveClock(call: UserCall): Promise<Answer> {
  const { core, form } = call
  const [advance, to, speed] = [field(form, 'advance'), field(form, 'to'), field(form, 'speed')]
  const change = advance === '' ? (to === '' ? { speed: Number(speed) } : { to }) : { advance }
  const moved = await attempt(() => core.serviceTime.move(change, operatorOf(call)))
  return moved.ok ? redirect(operatorPath('processes'), 'moved') : processes(call, moved.problem)
}

function readiness({ core, icon, language }: UserCall): Html {
  const words = processesWords(language)
  const { ready, reasons } = core.readiness.current()
  if (ready) return html`<div class="note good">${icon('check', 'good')}<div><b>${words.ready}</b></div></div>`
  return html`<div class="note bad" role="alert">${icon('warn', 'bad')}<div><b>${words.notReady}</b><p>${reasons.join('; ')}</p></div></div>`
}

function processTable({ format, icon, language }: UserCall, running: readonly ListedProcess[]): Html {
  const words = processesWords(language)
  const versions = new Set(running.filter(({ alive }) => alive).map(({ version }) => version))
  const state = ({ alive, seenAt }: ListedProcess) =>
    alive
      ? html`<span class="state good">${icon('check', 'good')}<span>${words.alive}</span></span>`
      : html`<span class="state wait">${icon('warn', 'wait')}<span>${words.silent}</span></span><small>${format.ago(seenAt)}</small>`
  return html`<div class="scroll" tabindex="0" role="region" aria-label="${words.running}"><table><thead><tr><th>${words.program}</th><th>${words.host}</th>
    <th>${words.state}</th><th class="wide-only">${words.version}</th><th class="n wide-only">${words.memory}</th><th class="n wide-only">${words.since}</th>
    </tr></thead><tbody>${running.map(
      (one) =>
        html`<tr><td><b>${one.program}</b></td><td class="any">${foreign(one.host)}<small>${words.process(String(one.pid))}</small></td><td>${state(one)}</td>
        <td class="wide-only">${
          versions.size > 1
            ? html`<span class="state wait">${icon('warn', 'wait')}<span>${foreign(one.version)}</span></span>`
            : foreign(one.version)
        }</td><td class="n wide-only">${format.size(one.memory)}</td><td class="n wide-only faint">${format.time(one.startedAt)}</td></tr>`,
    )}</tbody></table></div>`
}

function workerTable({ format, icon, language }: UserCall, workers: readonly WorkerSummary[]): Html {
  const words = processesWords(language)
  const state = (alive: boolean) =>
    alive
      ? html`<span class="state good">${icon('check', 'good')}<span>${words.alive}</span></span>`
      : html`<span class="state bad">${icon('x', 'bad')}<span>${words.gone}</span></span><small>${words.goneText}</small>`
  return html`<div class="scroll" tabindex="0" role="region" aria-label="${words.workers}"><table><thead><tr><th>${words.worker}</th><th>
    ${words.state}</th><th class="n">${words.inFlight}</th><th class="n wide-only">${words.connections}</th><th class="wide-only">${words.sources}
    </th><th class="n wide-only">${words.since}</th></tr></thead><tbody>${workers.map(
      (one) =>
        html`<tr><td class="any"><b>${foreign(one.host)}</b><small>${words.worker} ${one.id}, ${words.process(String(one.pid))}</small></td><td>
        ${state(one.alive)}</td><td class="n">${format.number(one.inFlight)}</td><td class="n wide-only">${format.number(one.connections)}</td>
        <td class="wide-only dim">${one.sources.length === 0 ? words.noSources : one.sources.join(', ')}</td><td class="n wide-only faint">
        ${format.time(one.startedAt)}</td></tr>`,
    )}</tbody></table></div>`
}

function databasePart({ format, icon, language }: UserCall, database: DatabaseHealth): Html {
  const words = processesWords(language)
  const { connections, maxConnections, oldestTransaction, replicaBehind, size, vacuumedAt, version, weeksAhead } =
    database
  const row = (name: string, value: Value, { hint, isWrong = false }: { hint?: string; isWrong?: boolean } = {}) =>
    html`<tr><td>${name}${hint !== undefined && html`<small>${hint}</small>`}</td><td class="n">${
      isWrong
        ? html`<span class="state wait">
      ${icon('warn', 'wait')}<span>${value}</span></span>`
        : value
    }</td></tr>`
  return html`<div class="scroll" tabindex="0" role="region" aria-label="${words.database}"><table><tbody>${[
    row(words.version, `PostgreSQL ${version}`),
    row(words.size, format.size(size)),
    row(words.open, `${format.number(connections)} ${words.of(format.number(maxConnections))}`, {
      isWrong: connections > 0.9 * maxConnections,
    }),
    row(words.oldest, oldestTransaction === null ? words.noTransaction : format.duration(oldestTransaction * 1000), {
      hint: words.oldestHint,
      isWrong: (oldestTransaction ?? 0) > LONG_TRANSACTION,
    }),
    row(words.weeks, format.number(weeksAhead), { hint: words.weeksHint, isWrong: weeksAhead < FEW_WEEKS }),
    row(words.vacuumed, vacuumedAt === null ? words.never : format.ago(vacuumedAt)),
    row(words.replica, replicaBehind === null ? words.noReplica : format.size(Math.max(0, replicaBehind))),
  ]}</tbody></table></div>`
}
