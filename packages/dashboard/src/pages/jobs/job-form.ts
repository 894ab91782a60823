import { BOUNCE_CLASSES, DELIVERY_CLASSES, QUEUE_ACTIONS, type QueueAction, type Selectors } from '@postrider/core'
import { checkField, type Html, html, inputField, selectField, type Value } from '@postrider/ui'
import { type Answer, page } from '../../frame/answer.ts'
import { type Form, field, type UserCall } from '../../frame/call.ts'
import { idIn, operatorPath } from '../../frame/operator.ts'
import { pageHead, problemNote } from '../../frame/parts.ts'
import { frameWords } from '../../frame/words/frame-words.ts'
import { queueWords } from '../queue/queue-words.ts'
import { jobsWords } from './jobs-words.ts'

/** The selectors of a submitted form that fit the action; core says what is wrong with them. */
export function selectorsOf(form: Form, action: QueueAction): Selectors {
  const text = (name: string) => field(form, name) || undefined
  const account = text('account')
  const common = {
    place: text('place'),
    domain: text('domain'),
    class: text('class'),
    tag: text('tag'),
    account: account === undefined ? undefined : (idIn(account) ?? 0),
  }
  if (action === 'requeue') {
    return {
      ...common,
      since: text('since'),
      until: text('until'),
      state: text('state'),
      bounceClass: text('bounceClass'),
    }
  }
  const to = action === 'reroute' ? { to: text('to') } : {}
  return { ...common, older: text('older'), all: field(form, 'all') === 'on', ...to }
}

/** The choice of the deliveries of a job. */
export async function jobForm(call: UserCall, action: QueueAction, problem?: string): Promise<Answer> {
  const { form, language, query } = call
  const words = jobsWords(language)
  const given = problem === undefined ? query : form
  const queue = queueWords(language)
  return page({
    title: words.plan,
    status: problem === undefined ? 200 : 400,
    crumbs: [
      [queue.title, operatorPath('queue')],
      [words.title, operatorPath('queue/jobs')],
    ],
    body: html`${pageHead(words.plan, words.about[action])}${problemNote(call, problem)}${actions(call, action)}
<section class="box"><form class="pad stack" method="post" action="${operatorPath('queue/plans')}"><input type="hidden" name="action" value="${action}">
${action === 'reroute' && (await poolField(call, given))}${action === 'requeue' && period(call, given)}
<p class="hint">${words.selectHint}</p>${selectorFields(call, given)}
${action === 'requeue' ? outcomes(call, given) : waiting(call, given)}
<div class="row"><button class="btn main" type="submit">${words.show}</button><a class="btn" href="${operatorPath('queue/jobs')}">
  ${frameWords(language).cancel}</a><span class="faint">${words.nothingYet}</span></div></form></section>`,
  })
}

function actions({ language }: UserCall, action: QueueAction): Html {
  const words = jobsWords(language)
  return html`<nav class="pick" aria-label="${words.action}">${QUEUE_ACTIONS.map(
    (one) =>
      html`<a class="chip" href="${operatorPath('queue/jobs/new', { action: one })}"${one === action && html` aria-current="true"`}>${words.actions[one]}</a>`,
  )}</nav>`
}

const MAX = 300

function selectorFields({ language }: UserCall, given: Form): Html {
  const { selectors: names, any, accountHint } = jobsWords(language)
  const value = (name: string) => ({ name, value: field(given, name), maxlength: MAX })
  const classes = [['', any] as const, ...DELIVERY_CLASSES.map((one) => [one, one] as const)]
  return html`<div class="cols even"><div class="stack w7">${inputField({ ...value('place'), label: names.place, placeholder: 'google' })}
    ${inputField({ ...value('domain'), label: names.domain, placeholder: 'harbor.example' })}</div>
<div class="stack w5">${inputField({ ...value('account'), label: names.accountId, type: 'number', hint: accountHint })}
  ${selectField({ name: 'class', value: field(given, 'class'), label: names.class, choices: classes })}</div></div>
${inputField({ ...value('tag'), label: names.tag })}`
}

function waiting({ language }: UserCall, given: Form): Html {
  const words = jobsWords(language)
  return html`${inputField({ name: 'older', label: words.older, value: field(given, 'older'), hint: words.olderHint, maxlength: MAX })}
${checkField({ name: 'all', label: words.whole, hint: words.wholeHint, checked: field(given, 'all') === 'on' })}`
}

function period({ language }: UserCall, given: Form): Html {
  const words = jobsWords(language)
  return html`<div class="cols even"><div class="w7">
    ${inputField({ name: 'since', label: words.since, value: field(given, 'since') || '2h', hint: words.sinceHint, required: true, maxlength: MAX })}
    </div><div class="w5">${inputField({ name: 'until', label: words.until, value: field(given, 'until'), hint: words.untilHint, maxlength: MAX })}</div></div>`
}

function outcomes({ language }: UserCall, given: Form): Html {
  const words = jobsWords(language)
  const states = [
    ['', words.any],
    ['bounced', words.bounced],
    ['expired', words.expired],
  ] as const
  const classes = [['', words.any] as const, ...BOUNCE_CLASSES.map((one) => [one, one] as const)]
  return html`<div class="cols even"><div class="w7">
    ${selectField({ name: 'state', value: field(given, 'state'), label: words.selectors.state, choices: states })}</div><div class="w5">
    ${selectField({ name: 'bounceClass', value: field(given, 'bounceClass'), label: words.selectors.bounceClass, choices: classes })}</div></div>`
}

async function poolField({ core, language }: UserCall, given: Form): Promise<Value> {
  const words = jobsWords(language)
  const { pools } = await core.sources.read()
  const choices = [['none', words.byRules] as const, ...pools.map(({ name }) => [name, name] as const)]
  return selectField({ name: 'to', value: field(given, 'to'), label: words.selectors.toPool, choices })
}
