import { type ExportJob, type ExportSpan, OPERATOR } from '@postrider/core'
import {
  type Call,
  type Command,
  limitOption,
  requiredId,
  requiredText,
  requiredWord,
  textOption,
  UsageError,
} from '../../command.ts'
import { progressOn, SILENT } from '../../importing/progress.ts'
import { table } from '../../table.ts'
import { requireAccount } from '../account-option.ts'
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
  {
    name: 'export create',
    usage: `${SPAN_USAGE} [--format json|csv] [--callback URL]`,
    summary: 'Export the events of a date range to a file',
    detail: 'A delivery worker makes the file; "export list" shows when it is done',
    parameters: { ...SPAN, format: 'Format of the file (default json)', callback: 'URL to notify when it is done' },
    examples: ['export create --account 12 --from 2030-01-01 --to 2030-01-31 --format csv'],
    run: (call) => {
      const [accountId, span] = [requiredId(call, 'account'), spanOf(call)]
      const wanted = {
        ...span,
        format: formatOption(call),
        callbackUrl: textOption(call, 'callback'),
        email: undefined,
      }
      return call.withCore(async (core) => {
        await requireAccount(core, accountId)
        const job = await core.exports.create(accountId, wanted, OPERATOR)
        return { data: job, text: `export ${job.id} is ${job.state}` }
      })
    },
  },
  {
    name: 'export list',
    usage: '--account ID [--limit N] [--before EXPORT]',
    summary: 'List the exports of an account, latest first',
    parameters: { before: 'Only those requested before the export with this id' },
    run: (call) => {
      const [accountId, page] = [
        requiredId(call, 'account'),
        { limit: limitOption(call), before: textOption(call, 'before') },
      ]
      return call.withCore(async (core) => {
        const jobs = await core.exports.list(accountId, page)
        return { data: jobs, text: jobs.length > 0 ? tableOf(jobs) : 'no exports' }
      })
    },
  },
  {
    name: 'export show',
    usage: 'EXPORT --account ID',
    summary: 'Show the state of an export, and the link to its file',
    parameters: JOB,
    run: (call) => {
      const [id, accountId] = [requiredWord(call, 'export id'), requiredId(call, 'account')]
      return call.withCore(async (core) => {
        const job = await core.exports.show(accountId, id)
        return { data: job, text: `${tableOf([job])}${job.url === null ? '' : `\n\n${job.url}`}` }
      })
    },
  },
  {
    name: 'export delete',
    usage: 'EXPORT --account ID',
    summary: 'Delete an export that is still queued',
    parameters: JOB,
    run: (call) => {
      const [id, accountId] = [requiredWord(call, 'export id'), requiredId(call, 'account')]
      return call.withCore(async (core) => {
        await core.exports.remove(accountId, id, OPERATOR)
        return { data: { deleted: id }, text: `export ${id} deleted` }
      })
    },
  },
  {
    name: 'export download',
    usage: 'EXPORT --account ID --out FILE',
    summary: 'Write the file of an export that is done',
    parameters: { ...JOB, out: OUT },
    run: (call) => {
      const [id, accountId] = [requiredWord(call, 'export id'), requiredId(call, 'account')]
      const file = requiredText(call, 'out')
      return call.withCore(async (core) => written(call, file, (await core.exports.file(accountId, id)).content))
    },
  },
  {
    name: 'export events',
    usage: `${SPAN_USAGE} --out FILE`,
    summary: 'Write the events of a date range to a file now, one JSON object per line',
    parameters: { ...SPAN, out: OUT },
    examples: ['export events --account 12 --from 2030-01-01 --out events.ndjson'],
    run: (call) => {
      const [accountId, span, file] = [requiredId(call, 'account'), spanOf(call), requiredText(call, 'out')]
      return call.withCore(async (core) => {
        await requireAccount(core, accountId)
        return written(call, file, await core.exports.stream(accountId, span))
      })
    },
  },
]

function spanOf(call: Call): ExportSpan {
  const events = textOption(call, 'events')
  return {
    startDate: requiredText(call, 'from'),
    endDate: textOption(call, 'to'),
    events: events === undefined ? [] : events.split(','),
  }
}

function tableOf(jobs: readonly ExportJob[]): string {
  const rows = jobs.map(({ id, state, format, firstDay, lastDay, rows, expiresAt, problem }) => [
    ...[id, state, format, `${firstDay} to ${lastDay}`, rows, expiresAt, problem],
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

function formatOption(call: Call): ExportJob['format'] {
  const value = textOption(call, 'format') ?? 'json'
  if (value !== 'json' && value !== 'csv') throw new UsageError(`--format must be json or csv (got "${value}")`)
  return value
}
