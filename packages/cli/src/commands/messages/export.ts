import { type ExportJob, type ExportSpan, OPERATOR } from '@postrider/core'
import type { Call, Command } from '../../command.ts'
import { progressOn, SILENT } from '../../importing/progress.ts'
import { table } from '../../table.ts'
import { requireAccount } from '../account-option.ts'
import { coreCommand, type Given } from '../core-command.ts'
import { writeOut } from '../write-out.ts'

const SPAN_USAGE = '--account ID --from DAY [--to DAY] [--events NAMES]'
const SPAN = {
  from: "First day in the account's time zone, for example 2030-01-31",
  to: 'Last day (default: today)',
  events: 'Names of events, separated by commas, for example sent,bounce (default: all but deferred)',
}
const JOB = { EXPORT: 'Id of the export: exp_ and 32 hex digits' }
const OUT = 'File to write'

/** Files of an account's events. */
export const exportCommands: readonly Command[] = [
  coreCommand({
    name: 'export create',
    usage: `${SPAN_USAGE} [--format json|csv] [--callback URL]`,
    summary: 'Export the events of a date range to a file',
    detail: 'A delivery worker makes the file; "export list" shows when it is done',
    parameters: { ...SPAN, format: 'Format of the file (default json)', callback: 'URL to notify when it is done' },
    examples: ['export create --account 12 --from 2030-01-01 --to 2030-01-31 --format csv'],
    run: async (core, { account, callback: callbackUrl, format = 'json', ...given }) => {
      await requireAccount(core, account)
      const wanted = { ...spanOf(given), format, callbackUrl, email: undefined }
      const job = await core.exports.create(account, wanted, OPERATOR)
      return { data: job, text: `export ${job.id} is ${job.state}` }
    },
  }),
  coreCommand({
    name: 'export list',
    usage: '--account ID [--limit N] [--after EXPORT]',
    summary: 'List the exports of an account, latest first',
    parameters: { after: 'Only after the export with this id, for the next page' },
    run: async ({ exports }, { account, limit, after: before }) => {
      const jobs = await exports.list(account, { limit, before })
      return { data: jobs, text: jobs.length > 0 ? tableOf(jobs) : 'no exports' }
    },
  }),
  coreCommand({
    name: 'export show',
    usage: 'EXPORT --account ID',
    summary: 'Show the state of an export, and the link to its file',
    parameters: JOB,
    run: async (core, { EXPORT: id, account: accountId }) => {
      const job = await core.exports.show(accountId, id)
      return { data: job, text: `${tableOf([job])}${job.url === null ? '' : `\n\n${job.url}`}` }
    },
  }),
  coreCommand({
    name: 'export delete',
    destroys: true,
    usage: 'EXPORT --account ID',
    summary: 'Delete an export that is still queued',
    parameters: JOB,
    look: ({ exports }, { EXPORT: id, account }) => exports.show(account, id),
    run: async (core, { EXPORT: id, account: accountId }) => {
      await core.exports.remove(accountId, id, OPERATOR)
      return { data: { deleted: id }, text: `export ${id} deleted` }
    },
  }),
  coreCommand({
    name: 'export download',
    usage: 'EXPORT --account ID --out FILE',
    summary: 'Write the file of an export that is done',
    parameters: { ...JOB, out: OUT },
    run: async (core, { EXPORT: id, account: accountId, out: file }, call) =>
      written(call, file, (await core.exports.file(accountId, id)).content),
  }),
  coreCommand({
    name: 'export events',
    usage: `${SPAN_USAGE} --out FILE`,
    summary: 'Write the events of a date range to a file now, one JSON object per line',
    parameters: { ...SPAN, out: OUT },
    examples: ['export events --account 12 --from 2030-01-01 --out events.ndjson'],
    run: async (core, { account, out: file, ...given }, call) => {
      await requireAccount(core, account)
      return written(call, file, await core.exports.stream(account, spanOf(given)))
    },
  }),
]

function spanOf({ from, to, events }: Omit<Given<typeof SPAN_USAGE>, 'account'>): ExportSpan {
  return { startDate: from, endDate: to, events: events?.split(',') ?? [] }
}

function tableOf(jobs: readonly ExportJob[]): string {
  const rows = jobs.map(({ id, state, format, firstDay, lastDay, rows, expiresAt, problem }) => [
    id,
    state,
    format,
    `${firstDay} to ${lastDay}`,
    rows,
    expiresAt,
    problem,
  ])
  return table(['id', 'state', 'format', 'days', 'events', 'deleted at', 'problem'], rows)
}

async function written(call: Call, file: string, content: AsyncIterable<string | Uint8Array>) {
  const progress = call.options.json ? SILENT : progressOn(call.stderr)
  const bytes = await writeOut(
    file,
    counted(content, (done) => progress.show('bytes', done)),
  )
  progress.end()
  return { data: { file, bytes }, text: `${bytes} bytes written to ${file}` }
}

async function* counted(content: AsyncIterable<string | Uint8Array>, show: (bytes: number) => void) {
  let bytes = 0
  for await (const chunk of content) {
    bytes += Buffer.byteLength(chunk)
    show(bytes)
    yield chunk
  }
}
