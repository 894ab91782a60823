import { writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { ERRORS, type ErrorRow } from '@postrider/core'

/** Path of docs/errors.md. */
export const ERRORS_PAGE = fileURLToPath(new URL('../../docs/errors.md', import.meta.url))

const INTRODUCTION = `# Errors

This page is generated from the table in packages/core/src/platform/error-table.ts by \`npm run docs\`. Edit the table, not the page.

A rejected call changes nothing: no message is accepted and no mail is sent. Each error is one row below, for all entry points. Over HTTP
you get a status, and a code in the body. Over SMTP you get a reply code, an enhanced code
([RFC 3463](https://www.rfc-editor.org/rfc/rfc3463)) and a text. A word in braces, such as \`{parameter}\`, is replaced by a value. If the
SMTP text differs, it is the second one, after the slash.

- 4xx statuses and 5xx SMTP codes: the call is invalid, and repeating it returns the same error. The exception is 429: retry after the
  number of seconds in the header \`Retry-After\`.
- 5xx statuses and 4xx SMTP codes: the service could not process the call. Retry the same call after a few seconds. After 452 4.5.3 the
  recipients accepted so far are valid; send to the others in a new transaction.
- 402, over SMTP 452 4.7.1: the account does not have enough credit. Add credit, then repeat the call. A mail server that gets 452 retries
  automatically.
`

const ENVELOPE = `
## Body of a v2 error response

    {"error_info":{"error_message":"Subject not specified","error_code":116},"message":"Error in SendEmail api call"}

\`error_code\` is the v2 code of the row, a number. \`error_message\` is its text. \`message\` names the call and always begins with
\`Error\`. There is no \`data\`. A successful call returns 200, with \`message\` exactly \`Success\` and \`error_info\` null:

    {"data":{},"message":"Success","error_info":null}
`

/** Returns the page. */
export function errorsPage(): string {
  const heading = ['name', 'v2 code', 'group', 'HTTP', 'SMTP', 'text']
  // Sorted by code for lookups; rows that share a code keep the table's order.
  const rows = Object.entries<ErrorRow>(ERRORS).sort(([, a], [, b]) => a.v2 - b.v2)
  const lines = [heading, heading.map(() => '---'), ...rows.map(([name, row]) => cells(name, row))]
  return `${INTRODUCTION}\n${lines.map((line) => `| ${line.join(' | ')} |`).join('\n')}\n${ENVELOPE}`
}

function cells(name: string, { v2, group, status, smtp, sentence }: ErrorRow): string[] {
  return [
    name,
    String(v2),
    group,
    String(status),
    `${smtp.code} ${smtp.enhanced}`,
    smtp.sentence === undefined ? sentence : `${sentence} / ${smtp.sentence}`,
  ]
}

if (import.meta.main) writeFileSync(ERRORS_PAGE, errorsPage())
