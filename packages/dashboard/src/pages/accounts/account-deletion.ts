import { type AccountFigures, type Counted, type DeletionPlan, deletionProblemText, GRACE_DAYS } from '@postrider/core'
import { foreign, type Html, html, inputField } from '@postrider/ui'
import { type Answer, page, redirect } from '../../frame/answer.ts'
import { attempt } from '../../frame/attempt.ts'
import { field, type UserCall } from '../../frame/call.ts'
import { idIn, operatorOf, operatorPath } from '../../frame/operator.ts'
import { actButton, pageHead } from '../../frame/parts.ts'
import { accountsWords } from './accounts-words.ts'

const pathOf = (id: number, below = ''): string => operatorPath(`accounts/${id}${below}`)

/** The form that makes a plan, of an account that is not closed. */
export function deletionForm({ form, language }: UserCall, { id }: AccountFigures): Html {
  const words = accountsWords(language)
  return html`<header><h2>${words.delete}</h2></header><form class="pad stack s" method="post" action="${pathOf(id, '/deletion')}">
<p class="hint">${words.deleteText}</p>
${inputField({
  name: 'days',
  label: words.graceDays,
  type: 'number',
  value: form.days === undefined ? String(GRACE_DAYS.usual) : field(form, 'days'),
  hint: words.graceDaysHint(GRACE_DAYS.most),
  required: true,
})}
<div class="row"><button class="btn" type="submit">${words.planDeletion}</button></div></form>`
}

/** Says that an account is closed, with the button that opens it again. */
export async function closedNote(call: UserCall, { id }: AccountFigures): Promise<Html> {
  const { core, format, icon, language } = call
  const words = accountsWords(language)
  const deletion = (await core.retention.deletions.list()).find(
    ({ accountId, state }) => accountId === id && state === 'closed',
  )
  return html`<section class="note wait">${icon('warn', 'wait')}<div class="stack s"><p>
    ${words.closedUntil(deletion?.removeAt ? format.plainTime(deletion.removeAt) : '')}</p><div class="row">
    ${actButton(words.restore, pathOf(id, '/restore'))}</div></div></section>`
}

/** Makes a plan and shows it; a problem is shown by `refused`. */
export async function planDeletion(
  call: UserCall,
  { id, name }: AccountFigures,
  refused: (problem: string) => Promise<Answer>,
): Promise<Answer> {
  const { core, form } = call
  const days = /^\d{1,4}$/.test(field(form, 'days')) ? Number(field(form, 'days')) : Number.NaN
  const planned = await attempt(() => core.retention.deletions.plan(id, days))
  if (!planned.ok) return refused(planned.problem)
  const { language } = call
  const words = accountsWords(language)
  const crumbs = [
    [words.title, operatorPath('accounts')],
    [name, pathOf(id)],
  ] as const
  return page({
    title: words.delete,
    crumbs,
    body: html`${pageHead(words.delete, html`${foreign(name)} · ${words.nothingYet}`)}${planPart(call, planned.value)}`,
  })
}

function planPart(call: UserCall, { id, accountId, graceDays, counts, expiresAt }: DeletionPlan): Html {
  const { format, icon, language } = call
  const words = accountsWords(language)
  const kinds: Readonly<Record<string, string>> = words.kinds
  const number = ({ count, partial }: Counted) => (partial ? words.atLeast(format.number(count)) : format.number(count))
  return html`<section class="note wait">${icon('warn', 'wait')}<div class="stack s"><div><b>${words.deleteTitle}</b><p>
  ${words.deletePlan(graceDays)} ${words.validUntil(format.plainTime(expiresAt))}</p></div>
<div class="row"><form method="post" action="${pathOf(accountId, '/deletion/confirm')}"><input type="hidden" name="plan" value="${id}">
  <button class="btn stop" type="submit">${words.closeAndDelete}</button></form>
  <a class="btn" href="${pathOf(accountId)}">${words.keep}</a></div></div></section>
<section class="box"><header><h2>${words.whatGoes}</h2></header><div class="scroll" tabindex="0" role="region" aria-label="${words.whatGoes}"><table><tbody>
  ${Object.entries(counts).map(
    ([kind, counted]) => html`<tr><td>${kinds[kind] ?? kind}</td><td class="n">${number(counted)}</td></tr>`,
  )}</tbody></table></div></section>`
}

/** Closes the account of a plan. */
export async function confirmDeletion(
  call: UserCall,
  { id }: AccountFigures,
  refused: (problem: string) => Promise<Answer>,
): Promise<Answer> {
  const plan = idIn(field(call.form, 'plan')) ?? 0
  const result = await call.core.retention.deletions.confirm(plan, operatorOf(call), id)
  return 'why' in result ? refused(deletionProblemText(result, plan)) : redirect(pathOf(id), 'closed')
}
