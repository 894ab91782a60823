import type { DeliveryDetails } from '@postrider/core'
import { foreign, type Html, html, type Value } from '@postrider/ui'
import type { AccountCall } from '../../../frame/call.ts'
import { messagesWords } from '../messages-words.ts'
import { stageWords } from './stage-words.ts'
import { durationOf, type Step, stepsOf, writesOf } from './steps.ts'

/** The colour of a bar: the time of this service, of the network, or of the server. */
type Whose = 'f5' | 'f1' | 'f2'

interface Bar {
  readonly name: string
  readonly ms: number
  readonly whose: Whose
}

/** Steps at which the server decides. */
const THEIRS: ReadonlySet<string> = new Set(['greeting', 'dot', 'data'])

/** The latest attempt of a delivery: how long it waited before, then each write with its answers. Their sum is the time since it was due. */
export function stages(call: AccountCall, delivery: DeliveryDetails | undefined): Value {
  const { format, language } = call
  const attempt = delivery?.attempts.at(-1)
  if (!delivery || !attempt) return null
  const words = messagesWords(language)
  const bars = barsOf(call, delivery)
  const total = Math.max(
    1,
    bars.reduce((sum, { ms }) => sum + ms, 0),
  )
  let at = 0
  const rows = bars.map(({ name, ms, whose }): Html => {
    const from = at
    at += ms
    return html`<tr><th scope="row">${name}</th><td class="hb">
      <svg class="hbar" viewBox="0 0 ${total} 16" preserveAspectRatio="none" aria-hidden="true"><path class="c grid" d="M0 8h${total}"/>
      <rect class="${whose}" x="${from}" y="4" width="${Math.max(ms, total / 200)}" height="8" rx="1"/></svg></td>
      <td class="n">${format.duration(ms)}</td></tr>`
  })
  const tls = attempt.tls
    ? words.tls(attempt.tls, attempt.tlsVerified ? words.verified : words.notVerified)
    : words.plain
  return html`<section class="box"><header><h2>${words.stages}</h2><p class="push">${format.duration(total)}</p></header>
    <div class="pad stack s"><p class="dim any">${foreign(delivery.recipient)}: ${words.attempt(attempt.attempt)}, ${attempt.host ?? ''}${
      attempt.address !== null && html` <span class="faint">[${attempt.address}]</span>`
    }, ${tls}</p>${
      rows.length > 0 &&
      html`<table class="fall"><caption class="sr">${stageWords(language).chart(delivery.recipient)}</caption><tbody>${rows}</tbody></table>`
    }</div>${rows.length > 0 && legend(call)}</section>`
}

function barsOf({ language }: AccountCall, { attempts, why }: DeliveryDetails): Bar[] {
  const words = stageWords(language)
  const [last, before] = [attempts.at(-1), attempts.at(-2)]
  if (!last) return []
  const since = before
    ? before.startedAt.getTime() + before.milliseconds
    : last.attempt === 1
      ? why?.dueFrom.getTime()
      : undefined
  const waited = since === undefined ? undefined : Math.max(0, last.startedAt.getTime() - since)
  const writes = writesOf(stepsOf(last.conversation), last.milliseconds)
  const spent = writes.reduce((sum, group) => sum + durationOf(group), 0)
  const rest = last.milliseconds - spent
  return [
    ...(waited === undefined ? [] : [{ name: before ? words.since : words.queue, ms: waited, whose: 'f5' as const }]),
    ...writes.filter((group) => durationOf(group) > 0).map((group) => barOf(words.steps, group)),
    ...(rest >= 1 ? [{ name: words.other, ms: rest, whose: 'f5' as const }] : []),
  ]
}

function barOf(names: Readonly<Record<string, string>>, group: readonly Step[]): Bar {
  const last = group.at(-1)?.step ?? ''
  return {
    name: group.map(({ step }) => names[step] ?? step).join(', '),
    ms: durationOf(group),
    whose: group.length === 1 && THEIRS.has(last) ? 'f2' : 'f1',
  }
}

function legend({ language }: AccountCall): Html {
  const words = stageWords(language)
  const sign = (whose: Whose, name: string) =>
    html`<span><svg viewBox="0 0 18 8" aria-hidden="true"><rect class="${whose}" x="5" width="8" height="8" rx="2"/></svg>${name}</span>`
  return html`<footer class="key">${sign('f5', words.here)}${sign('f1', words.way)}${sign('f2', words.they)}</footer>`
}
