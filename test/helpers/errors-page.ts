import { writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { ERRORS, type ErrorRow } from '@postrider/core'

/** Where docs/errors.md lies. */
export const ERRORS_PAGE = fileURLToPath(new URL('../../docs/errors.md', import.meta.url))

const INTRODUCTION = `# Errors

This page is written from the table in packages/core/src/platform/errors.ts by \`npm run docs\`; change the table, not the page.

A call that is refused changes nothing: no message was accepted, no mail will be sent. Every refusal is one row below,
whichever way the call came in. Over HTTP it shows as a status and a code in the body; over SMTP as a reply code, an
enhanced code ([RFC 3463](https://www.rfc-editor.org/rfc/rfc3463)) and a sentence. A word in braces, such as
\`{parameter}\`, stands for what the service fills in. Where SMTP says it with a sentence of its own, it stands second.

- 4xx statuses and 5xx SMTP codes: the call is wrong. Sending the same again brings the same answer.
  Not so 429: it passes by itself, and the header \`Retry-After\` says when.
- 5xx statuses and 4xx SMTP codes: the service can't take the call now. Send the same again in a moment. (After
  452 4.5.3 the recipients taken so far stand; the others go into a transaction of their own.)
- 402 and its 452 4.7.1: the account's credit does not suffice. Have some added, then send again; a mail server that got the
  452 does so by itself.
`

const ENVELOPE = `
## The body of a refused v2 call

    {"error_info":{"error_message":"Subject not specified","error_code":116},"message":"Error in SendEmail api call"}

\`error_code\` is a number, the row's code; \`error_message\` is its sentence; \`message\` names the call and always
begins with the word Error. There is no \`data\`. A call that succeeds answers 200 with \`message\` exactly \`Success\` and
\`error_info\` null:

    {"data":{},"message":"Success","error_info":null}
`

/** The page, as it should be. */
export function errorsPage(): string {
  const heading = ['name', 'v2 code', 'group', 'HTTP', 'SMTP', 'sentence']
  // Sorted by code, as one looks them up; rows that share a code keep the table's order.
  const rows = Object.entries<ErrorRow>(ERRORS).sort(([, a], [, b]) => a.v2 - b.v2)
  const lines = [heading, heading.map(() => '---'), ...rows.map(([name, row]) => cells(name, row))]
  return `${INTRODUCTION}\n${lines.map((line) => `| ${line.join(' | ')} |`).join('\n')}\n${ENVELOPE}`
}

function cells(name: string, { v2, group, status, smtp, sentence }: ErrorRow): string[] {
  const [code, enhanced, own] = smtp
  return [
    name,
    String(v2),
    group,
    String(status),
    `${code} ${enhanced}`,
    [sentence, own].flatMap((text) => (text ? [text] : [])).join(' / '),
  ]
}

if (import.meta.main) writeFileSync(ERRORS_PAGE, errorsPage())
