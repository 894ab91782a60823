import { type DeliveryDetails, type MessageDetails, replyText } from '@postrider/core'
import { foreign, type Html, html } from '@postrider/ui'
import type { AccountCall } from '../../../frame/call.ts'
import { messagesWords } from '../messages-words.ts'
import { stageWords } from './stage-words.ts'
import { durationOf, type Step, stepsOf, writesOf } from './steps.ts'

type Attempt = DeliveryDetails['attempts'][number]

/** Commands by the steps that they begin; other steps are not begun by us, or are notes of this service. */
const COMMANDS: Readonly<Record<string, string>> = {
  ehlo: 'EHLO',
  starttls: 'STARTTLS',
  auth: 'AUTH',
  mail: 'MAIL FROM',
  rcpt: 'RCPT TO',
  data: 'DATA',
  rset: 'RSET',
}
/** Steps to which the server replies, with a command or not. */
const ANSWERED: ReadonlySet<string> = new Set([...Object.keys(COMMANDS), 'greeting', 'dot'])

/** The SMTP conversations of a delivery's latest attempts, the latest first: what we sent, by its kind, and what they replied. */
export function transcript(call: AccountCall, details: MessageDetails, delivery: DeliveryDetails | undefined): Html {
  const { format, language } = call
  const words = messagesWords(language)
  const side = stageWords(language)
  const attempts = [...(delivery?.attempts ?? [])].reverse()
  if (!delivery || attempts.length === 0) return html`<div class="void"><p>${words.noTranscript}</p></div>`
  const size = format.size(details.size)
  return html`<div class="scroll" tabindex="0" role="region" aria-label="${words.tabs.transcript}"><table class="smtp"><thead><tr><th>${side.who}
    </th><th>${words.reply}</th><th class="n">${words.took}</th></tr></thead>${attempts.map(
      (attempt) =>
        html`<tbody><tr class="gap"><th colspan="2" scope="rowgroup">
        ${words.attempt(attempt.attempt)}: ${attempt.host ?? ''} ${
          attempt.address !== null && html`[${attempt.address}]`
        } ${format.time(attempt.startedAt)}</th>
        <td class="n faint">${format.duration(attempt.milliseconds)}</td></tr>${writesOf(
          stepsOf(attempt.conversation),
          attempt.milliseconds,
        ).map((group) =>
          write(call, group, { recipient: delivery.recipient, size }),
        )}${attempt.conversation === null && unstored(attempt)}</tbody>`,
    )}</table></div><footer>${side.notStored}</footer>`
}

interface Sent {
  readonly recipient: string
  readonly size: string
}

/** The commands of one write, then the replies. */
function write({ format, language }: AccountCall, group: readonly Step[], sent: Sent): Html {
  const words = stageWords(language)
  const ours = group.flatMap(({ step }) => commandOf(words, step, sent) ?? [])
  return html`${ours.map(
    (
      line,
    ) => html`<tr class="us"><td><span class="info" title="${words.we}">→<span class="sr">${words.we}</span></span></td>
    <td class="any">${foreign(line)}</td><td></td></tr>`,
  )}${group.map((step) => {
    const isTheirs = ANSWERED.has(step.step)
    const text = replyText({
      code: step.code ?? null,
      enhanced: step.enhanced ?? null,
      reply: step.text ?? null,
    }).slice(0, 2000)
    const sign = isTheirs
      ? html`<span class="faint" title="${words.they2}">←<span class="sr">${words.they2}</span></span>`
      : html`<span class="faint">· ${step.step}</span>`
    const took = step === group.at(-1) ? format.duration(durationOf(group)) : ''
    return html`<tr><td>${sign}</td><td class="any">${foreign(text)}</td><td class="n faint">${took}</td></tr>`
  })}`
}

function commandOf(words: ReturnType<typeof stageWords>, step: string, { recipient, size }: Sent): string | undefined {
  if (step === 'dot') return words.message(size)
  return step === 'rcpt' ? `RCPT TO:<${recipient}>` : COMMANDS[step]
}

function unstored(attempt: Attempt): Html {
  return html`<tr><td>${attempt.stage ?? ''}</td><td class="any">${foreign(replyText(attempt))}</td><td class="n faint"></td></tr>`
}
