import { type DeliveryDetails, replyText } from '@postrider/core'
import { foreign, type Html, html } from '@postrider/ui'
import type { AccountCall } from '../../frame/call.ts'
import { messagesWords } from './messages-words.ts'
import { stepsOf } from './stages.ts'

/** The SMTP conversations of a delivery's latest attempts, the latest first. */
export function transcript({ format, language }: AccountCall, delivery: DeliveryDetails | undefined): Html {
  const words = messagesWords(language)
  const attempts = [...(delivery?.attempts ?? [])].reverse()
  if (attempts.length === 0) return html`<div class="void"><p>${words.noTranscript}</p></div>`
  return html`<div class="scroll" tabindex="0" role="region" aria-label="${words.tabs.transcript}"><table class="smtp"><thead><tr><th>${words.step}
    </th><th>${words.reply}</th><th class="n">${words.took}</th></tr></thead>${attempts.map(
      (attempt) =>
        html`<tbody><tr class="gap"><th colspan="2" scope="rowgroup">
        ${words.attempt(attempt.attempt)}: ${attempt.host ?? ''} ${
          attempt.address !== null && html`[${attempt.address}]`
        } ${format.time(attempt.startedAt)}</th>
        <td class="n faint">${format.duration(attempt.milliseconds)}</td></tr>${stepsOf(attempt.conversation).map(
          (step) =>
            html`<tr><td>${step.step}</td><td class="any">
            ${foreign(replyText({ code: step.code ?? null, enhanced: step.enhanced ?? null, reply: step.text ?? null }).slice(0, 2000))}</td>
            <td class="n faint">${format.duration(step.ms)}</td></tr>`,
        )}${
          attempt.conversation === null &&
          html`<tr><td>${attempt.stage ?? ''}</td><td class="any">${foreign(replyText(attempt))}</td><td class="n faint"></td></tr>`
        }</tbody>`,
    )}</table></div>`
}
