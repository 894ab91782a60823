import { createReadStream } from 'node:fs'
import { OPERATOR, readSuppressionCsv, suppressionCsv } from '@postrider/core'
import { type Command, CommandError } from '../../command.ts'
import { progressOf, shown } from '../../importing/progress.ts'
import { table } from '../../table.ts'
import { requireAccount } from '../account-option.ts'
import { coreCommand } from '../core-command.ts'
import { writeOut } from '../write-out.ts'

/** The whole list of an account as CSV. */
export const suppressionFileCommands: readonly Command[] = [
  coreCommand({
    name: 'suppression import',
    usage: 'FILE --account ID [--atomic]',
    summary: 'Add the addresses and domains of a CSV file; exit status 1 if rows are invalid',
    detail:
      'Its columns are email or domain, and optionally reason, since and group; or those of an export of Postmark, Mailgun, Amazon SES, SendGrid or Resend',
    parameters: { atomic: 'Add nothing if a row is invalid' },
    examples: ['suppression import bounced.csv --account 12'],
    run: async (core, { FILE: file, account: accountId, atomic }, call) => {
      const opened = await open(file)
      const rows = shown(progressOf(call), 'rows', readSuppressionCsv(opened))
      const report = await core.suppressions.import({ accountId, by: OPERATOR, rows, atomic })
      const { added, known, wrong, problems } = report
      const problem = problems.map((one) => [one.line, one.problem])
      const text = `${added} added, ${known} known, ${wrong} invalid of ${report.rows} rows`
      const answer = { data: report, text: wrong > 0 ? `${text}\n\n${table(['line', 'problem'], problem)}` : text }
      return wrong > 0 ? { ...answer, failure: `${wrong} rows of ${file} are invalid` } : answer
    },
  }),
  coreCommand({
    name: 'suppression export',
    usage: '--account ID --out FILE',
    summary: 'Write all suppressions of an account as CSV, for "suppression import"',
    parameters: { out: 'File to write' },
    examples: ['suppression export --account 12 --out suppressions.csv'],
    run: async (core, { account: accountId, out: file }, call) => {
      await requireAccount(core, accountId)
      const pages = shown(progressOf(call), 'pages', core.suppressions.pages(accountId))
      const bytes = await writeOut(file, suppressionCsv(pages))
      return { data: { file, bytes }, text: `${bytes} bytes written to ${file}` }
    },
  }),
]

/** Throws {@link CommandError}. */
async function open(file: string) {
  const stream = createReadStream(file)
  await new Promise<void>((resolve, reject) => {
    stream.once('ready', resolve)
    stream.once('error', ({ code }: NodeJS.ErrnoException) =>
      reject(new CommandError(`${file} cannot be read: ${code}`)),
    )
  })
  return stream
}
