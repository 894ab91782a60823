import type { JobPlan } from '@postrider/core'
import { foreign, type Html, html, type Value } from '@postrider/ui'
import { type Answer, page } from '../../frame/answer.ts'
import type { UserCall } from '../../frame/call.ts'
import { operatorPath } from '../../frame/operator.ts'
import { emptyBox, pageHead } from '../../frame/parts.ts'
import { destinationName } from '../queue/destination-state.ts'
import { queueWords } from '../queue/queue-words.ts'
import { jobsWords } from './jobs-words.ts'

/** A plan that was made just now: how many deliveries the job would touch, and which; with the button that begins it. */
export async function planPage(call: UserCall, plan: JobPlan): Promise<Answer> {
  const { core, format, language } = call
  const words = jobsWords(language)
  const { action, byAccount, byBounceClass, byPlace, count, partial } = plan
  const names = await core.accounts.names(byAccount.map(({ accountId }) => accountId))
  const title = count === 0 ? words.touchesNone : words.touches(format.number(count), partial)
  const again = html`<a class="btn" href="${operatorPath('queue/jobs/new', { action })}">${words.change}</a>`
  const crumbs = [
    [queueWords(language).title, operatorPath('queue')],
    [words.title, operatorPath('queue/jobs')],
  ] as const
  if (count === 0) {
    const body = html`${pageHead(words.actions[action], words.nothingYet)}${emptyBox(call, 'search', title, leftOut(call, plan), again)}`
    return page({ title: words.actions[action], crumbs, body })
  }
  const destinationText = (destination: string | null) =>
    destination === null ? (action === 'requeue' ? words.unknown : words.notParked) : destinationName(call, destination)
  return page({
    title: words.actions[action],
    crumbs,
    body: html`${pageHead(words.actions[action], html`${words.about[action]} ${words.nothingYet}`)}
<section class="note wait">${call.icon('warn', 'wait')}<div class="stack s"><div><b>${title}</b><p>
  ${words.valid(format.plainTime(plan.expiresAt))} ${leftOut(call, plan)}</p></div>
<div class="row"><form method="post" action="${operatorPath(`queue/plans/${plan.id}/confirm`)}"><input type="hidden" name="action" value="${action}">
  <button class="btn${action === 'fail' ? ' stop' : ' main'}" type="submit">${words.begin}</button></form>${again}</div></div></section>
<div class="cols even">${counts(
      call,
      words.byPlace,
      byPlace.map((one) => [destinationText(one.place), one.count]),
    )}${counts(
      call,
      words.byAccount,
      byAccount.map((one) => [names.get(one.accountId) ?? String(one.accountId), one.count]),
    )}</div>
${
  byBounceClass &&
  counts(
    call,
    words.byBounce,
    byBounceClass.map((one) => [one.bounceClass ?? words.expired, one.count]),
  )
}
${sample(call, plan)}`,
  })
}

function counts(
  { format, language }: UserCall,
  title: string,
  rows: readonly (readonly [name: string, count: number])[],
): Html {
  const words = jobsWords(language)
  return html`<section class="box w6"><header><h2>${title}</h2></header><div class="scroll" tabindex="0" role="region" aria-label="${title}"><table>
    <tbody>${rows.map(
      ([name, count]) =>
        html`<tr><td class="any">${foreign(name)}</td><td class="n" title="${words.count}">${format.number(count)}</td></tr>`,
    )}</tbody></table></div></section>`
}

function sample({ language }: UserCall, plan: JobPlan): Html {
  const words = jobsWords(language)
  return html`<section class="box"><header><h2>${words.sample}</h2></header>
    <div class="scroll" tabindex="0" role="region" aria-label="${words.sample}"><table><thead><tr><th>${words.recipient}</th><th class="wide-only">
    ${words.state}</th><th class="wide-only">ID</th></tr></thead><tbody>${plan.sample.map(
      ({ messageId, recipient, state }) =>
        html`<tr><td class="any">${foreign(recipient)}</td><td class="wide-only dim">${state}</td><td class="wide-only mono faint">${messageId}</td></tr>`,
    )}</tbody></table></div></section>`
}

function leftOut({ format, language }: UserCall, { leftOut = {} }: JobPlan): Value {
  const words = jobsWords(language)
  const why: Readonly<Record<string, string>> = words.why
  const parts = Object.entries(leftOut).map(([reason, count]) => `${format.number(count)} ${why[reason] ?? reason}`)
  return parts.length > 0 && `${words.leftOut}: ${parts.join(', ')}.`
}
