import type { ServiceTime } from '@postrider/core'
import { type Html, html } from '@postrider/ui'
import type { UserCall } from '../../frame/call.ts'
import { operatorPath } from '../../frame/operator.ts'
import { processesWords } from './processes-words.ts'

/** By the names of their texts. */
const SPANS = { hour: '1h', hours: '4h', day: '1d', week: '7d', month: '30d' } as const
const FAST = 60

/** The time of a sandbox, with what moves it. */
export function clockPart(
  { format, icon, language }: UserCall,
  { now, ahead, speed }: ServiceTime,
  problem?: string,
): Html {
  const words = processesWords(language).clock
  const button = (name: string, value: string | number, text: string) =>
    html`<button class="btn s" type="submit" name="${name}" value="${value}">${text}</button>`
  const isReal = ahead === 0 && speed === 1
  return html`<section class="box" id="clock"><header><h2>${words.title}</h2><p>${words.text}</p></header><div class="pad stack s">
${problem !== undefined && html`<div class="note bad" role="alert">${icon('warn', 'bad')}<div><p>${problem}</p></div></div>`}
<p><b>${format.time(now)}</b> ${isReal ? words.real : speed === 1 ? words.moved : words.fast(format.number(speed))}</p>
<form class="row wrap" method="post" action="${operatorPath('processes/clock')}">${Object.entries(SPANS).map(
    ([name, span]) => button('advance', span, words.spans[name as keyof typeof SPANS]),
  )}${speed === 1 ? button('speed', FAST, words.faster(String(FAST))) : button('speed', 1, words.slower)}${!isReal && button('to', 'real', words.back)}</form>
</div></section>`
}
