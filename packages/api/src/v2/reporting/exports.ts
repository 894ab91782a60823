import { Readable } from 'node:stream'
import { type ExportJob, ServiceError } from '@postrider/core'
import Type, { type Static } from 'typebox'
import { FILE_TYPES } from '../../http/file-type.ts'
import { commaList } from '../comma-list.ts'
import { type Call, type Operation, operation } from '../operation.ts'
import { Count, pageOf } from '../shapes.ts'

const Text = (description: string) => Type.Union([Type.String({ maxLength: 2048 }), Type.Null()], { description })
const Events = Type.Union(
  [Type.String({ maxLength: 1000 }), Type.Array(Type.String(), { maxItems: 50 }), Type.Null()],
  {
    description:
      'sent, open, click, unsubscribe, bounce, softbounce, hardbounce, spam, invalid, dropped, processed, deferred; a list or ' +
      'comma-separated; default all except deferred',
  },
)

const Span = Type.Object({
  startdate: Type.Optional(Text("yyyy-mm-dd, inclusive, in the account's time zone")),
  enddate: Type.Optional(Text('yyyy-mm-dd, inclusive; default today')),
  events: Type.Optional(Events),
})

const jobId = Type.String({ maxLength: 100 })
const Job = Type.Object({
  jobId: Type.String(),
  status: Type.Enum(['queued', 'running', 'done', 'failed']),
})
const JobWhole = Type.Object({
  ...Job.properties,
  format: Type.Enum(['json', 'csv']),
  startdate: Type.String(),
  enddate: Type.String(),
  events: Type.Array(Type.String()),
  rows: Type.Integer({ description: 'number of events in the file so far' }),
  created: Type.String(),
  finished: Type.Union([Type.String(), Type.Null()]),
  expires: Type.Union([Type.String(), Type.Null()], { description: 'time at which the job and its file are deleted' }),
  url: Type.Union([Type.String(), Type.Null()], { description: 'download link, valid for anyone who has it' }),
  problem: Type.Union([Type.String(), Type.Null()], { description: 'reason of the failure' }),
})

// Events contain addresses, so an export needs the scope that reads the log.
const common = { group: 'Stats', scope: 'events' } as const
const span = ['exportDateInvalid', 'exportDatesReversed'] as const

const example: Static<typeof JobWhole> = {
  jobId: 'exp_0b0f1c6f8f2a4c7c9d3f5a1e2b4c6d8e',
  status: 'done',
  format: 'json',
  startdate: '2026-01-01',
  enddate: '2026-01-05',
  events: ['sent', 'opened'],
  rows: 2,
  created: '2026-01-06T08:00:00.000Z',
  finished: '2026-01-06T08:00:01.000Z',
  expires: '2026-01-13T08:00:01.000Z',
  url: 'https://mail.example/exports/AQm3',
  problem: null,
}
const line =
  '{"TRANSID":15536250111702804,"EMAIL":"ann@x.test","FROMADDRESS":"news@acme.test","EVENT":"sent",' +
  '"TIMESTAMP":1767607874,"RESPONSE":"250 2.0.0 OK","X-APIHEADER":"inv-1","TAGS":"t1,t2","MSIZE":2155,"NUMBER":7}\n'

/** Exports of events (contract section 14). */
export const EXPORTS: readonly Operation[] = [
  operation({
    ...common,
    name: 'createExport',
    creates: true,
    summary: 'Export the events of a date range to a file. Completion is reported to a callback URL or by email',
    cli: 'export create',
    routes: [['/stats/export', 'POST']],
    input: Type.Object({
      ...Span.properties,
      callbackUrl: Type.Optional(Text('checked immediately by HEAD, or else POST, and must return 2xx')),
      email: Type.Optional(Text('address to notify, from an active sending domain of the account')),
      format: Type.Optional(
        Type.Union([Type.Enum(['json', 'csv', '']), Type.Null()], {
          description: 'default json, with one object per line',
        }),
      ),
    }),
    answer: Job,
    errors: [...span, 'exportTargetMissing', 'exportEmailInvalid', 'exportNotCreated', 'exportUnreachable'],
    example: {
      input: { startdate: '2026-01-01', enddate: '2026-01-05', callbackUrl: 'https://shop.example/dump' },
      data: { jobId: 'exp_0b0f1c6f8f2a4c7c9d3f5a1e2b4c6d8e', status: 'queued' },
    },
    async act({ callbackUrl, email, format, ...range }, call) {
      const { core, principal, by } = call
      const wanted = {
        callbackUrl: callbackUrl || undefined,
        email: email || undefined,
        format: format || 'json',
      } as const
      const { id, state } = await core.exports.create(
        principal.account.id,
        { ...questionIn(range, call), ...wanted },
        by,
      )
      return { data: { jobId: id, status: state } }
    },
  }),
  operation({
    ...common,
    name: 'streamEvents',
    summary: 'Download the events of a date range, one JSON object per line',
    cli: 'export events',
    routes: [
      ['/stats/export', 'GET'],
      ['/stats/export/stream', 'GET', 'POST'],
    ],
    gives: ['application/x-ndjson'],
    input: Span,
    answer: Type.String(),
    errors: span,
    example: { input: { startdate: '2026-01-01', events: 'sent,open' }, data: line },
    async act(range, call) {
      const lines = await call.core.exports.stream(call.principal.account.id, questionIn(range, call), call.reads)
      return { stream: Readable.from(lines, { objectMode: false }), fileName: 'events.ndjson' }
    },
  }),
  operation({
    ...common,
    name: 'listExports',
    summary: 'List the exports, latest first',
    cli: 'export list',
    routes: [['/stats/exports', 'GET', 'POST']],
    input: Type.Object({
      limit: Count('at most 100 (default)'),
      before: Type.Optional(Type.String({ maxLength: 100, description: 'exports requested before this one' })),
    }),
    answer: Type.Array(JobWhole),
    errors: ['exportUnknown'],
    example: { input: { limit: 10 }, data: [example] },
    act: async ({ before, ...input }, { core, principal }) => {
      const { limit } = pageOf(input, { byDefault: 100, most: 100 })
      return { data: (await core.exports.list(principal.account.id, { limit, before })).map(shown) }
    },
  }),
  operation({
    ...common,
    name: 'showExport',
    summary: 'Show the status of an export and the link to its file',
    cli: 'export show',
    routes: [['/stats/export/:jobId', 'GET', 'POST']],
    input: Type.Object({ jobId }),
    answer: JobWhole,
    errors: ['exportUnknown'],
    example: { input: { jobId: 'exp_0b0f1c6f8f2a4c7c9d3f5a1e2b4c6d8e' }, data: example },
    act: async ({ jobId }, { core, principal }) => ({
      data: shown(await core.exports.show(principal.account.id, jobId)),
    }),
  }),
  operation({
    ...common,
    name: 'deleteExport',
    summary: 'Delete an export that is still queued',
    cli: 'export delete',
    routes: [
      ['/stats/export/:jobId', 'DELETE'],
      ['/stats/export/:jobId/delete', 'POST', 'DELETE'],
    ],
    input: Type.Object({ jobId }),
    answer: Type.Object({ jobId: Type.String() }),
    errors: ['exportUnknown', 'exportNotQueued'],
    example: {
      input: { jobId: 'exp_0b0f1c6f8f2a4c7c9d3f5a1e2b4c6d8e' },
      data: { jobId: 'exp_0b0f1c6f8f2a4c7c9d3f5a1e2b4c6d8e' },
    },
    async act({ jobId }, { core, principal, by }) {
      await core.exports.remove(principal.account.id, jobId, by)
      return { data: { jobId } }
    },
  }),
  operation({
    ...common,
    name: 'downloadExport',
    summary: 'Download the file of a finished export',
    cli: 'export download',
    routes: [['/stats/export/:jobId/file', 'GET', 'POST']],
    gives: ['application/x-ndjson', 'text/csv'],
    input: Type.Object({ jobId }),
    answer: Type.String(),
    errors: ['exportUnknown'],
    example: { input: { jobId: 'exp_0b0f1c6f8f2a4c7c9d3f5a1e2b4c6d8e' }, data: line },
    async act({ jobId }, { core, principal }) {
      const { format, fileName, content } = await core.exports.file(principal.account.id, jobId)
      return { stream: Readable.from(content, { objectMode: false }), fileName, type: FILE_TYPES[format] }
    },
  }),
]

/** Throws bodyBlank, parameterMissing (startdate), before core can report a malformed day. */
function questionIn({ startdate, enddate, events }: Static<typeof Span>, { request }: Call) {
  if (!startdate) {
    const { body, method } = request
    if (method !== 'GET' && Object.keys(body ?? {}).length === 0) throw new ServiceError('bodyBlank')
    throw new ServiceError('parameterMissing', { values: { parameter: 'startdate' } })
  }
  return {
    startDate: startdate,
    endDate: enddate || undefined,
    events: typeof events === 'string' ? commaList('events', events) : (events ?? []),
  }
}

function shown(job: ExportJob): Static<typeof JobWhole> {
  const { id, state, format, firstDay, lastDay, kinds, rows, createdAt, finishedAt, expiresAt, url, problem } = job
  return {
    jobId: id,
    status: state,
    format,
    startdate: firstDay,
    enddate: lastDay,
    events: [...kinds],
    rows,
    created: createdAt.toISOString(),
    finished: finishedAt?.toISOString() ?? null,
    expires: expiresAt?.toISOString() ?? null,
    url,
    problem,
  }
}
