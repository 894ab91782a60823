import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { EVENT_TYPE_TABLE, EVENT_TYPES, type Event, type EventType, type EventTypeRow } from '@postrider/core'
import t from 'tap'
import { isOfAccount } from '../../../packages/core/src/events/event-types.ts'
import { kindOf, typesOf } from '../../../packages/core/src/reporting/exports/kinds.ts'
import { v2Body } from '../../../packages/core/src/reporting/formats/v2/webhook-body.ts'
import { v3Body } from '../../../packages/core/src/reporting/formats/v3/webhook-body.ts'
import { eventsNamed } from '../../../packages/core/src/reporting/webhooks/names.ts'
import { sampleEvents } from '../../../packages/core/src/reporting/webhooks/samples.ts'
import { call } from '../../api/call.ts'
import { makeService } from '../../helpers/service.ts'
import { countAll, happen } from '../reporting/statistics/happen.ts'
import { acceptMessage } from '../submission.ts'

const CORE = fileURLToPath(new URL('../../../packages/core/src/', import.meta.url))
const DOCS = fileURLToPath(new URL('../../../docs/', import.meta.url))
const ROWS = Object.entries<EventTypeRow>(EVENT_TYPE_TABLE) as [EventType, EventTypeRow][]
const V2 = { asText: false, abuse: false, eventIds: false }

const service = await makeService(t)
const url = await service.openApi()

t.test('the producers of events are those of the table, and write events by insertEvents alone', async (t) => {
  const files = globSync('**/*.ts', { cwd: CORE }).map(
    (file) => [file, readFileSync(join(CORE, file), 'utf8')] as const,
  )
  const writing = files.filter(([file, text]) => /\binsertEvents\(/.test(text) && !file.startsWith('events/'))
  t.same(
    [...new Set(ROWS.flatMap(([, { producers }]) => producers))].sort(),
    writing.map(([file]) => file).sort(),
    'a row names each file that writes such events',
  )
  const byHand = files.filter(([file, text]) => /insert into events\b/.test(text) && file !== 'events/insert-events.ts')
  t.same(byHand, [])
})

t.test("the database's checks and indexes are those of the table", async (t) => {
  const [check] = await service.sql`
    select pg_get_constraintdef(oid) as text from pg_constraint where conname = 'events_type_check' and conrelid = 'events'::regclass`
  const quoted = (text: string): string[] =>
    [...text.matchAll(/'(\w+)'::text/g)].map(([, name]) => name as string).sort()
  t.same(quoted(check?.text), [...EVENT_TYPES].sort())
  const indexes = await service.sql<{ text: string }[]>`
    select pg_get_expr(i.indpred, i.indrelid) as text from pg_index i
     where i.indrelid = 'events'::regclass and pg_get_expr(i.indpred, i.indrelid) like '%opened%'`
  t.ok(indexes.length > 0)
  const indexed = ROWS.filter(([, { log }]) => log.indexed).map(([type]) => type)
  for (const { text } of indexes) t.same(quoted(text.replace("'machine'::text", '')), indexed.sort(), text)
  const columns = await service.sql<{ name: string }[]>`
    select column_name as name from information_schema.columns where table_name = 'roll_ups'`
  const counted = ROWS.flatMap(([, { countedAs }]) => countedAs)
  const known = columns.map(({ name }) => name)
  t.same(
    counted.filter((metric) => !known.includes(metric)),
    [],
  )
  const [fold] = await service.sql`select prosrc as text from pg_proc where proname = 'fold_tags'`
  t.same(
    counted.filter((metric) => !fold?.text.includes(`${metric} = r.${metric} + excluded.${metric}`)),
    [],
    'the function that folds tags adds up each column',
  )
})

t.test('each type is reported by the feed, the log, statistics, exports and webhooks as its row says', async (t) => {
  for (const [type, row] of ROWS) {
    const sender = await service.makeSender()
    const { accountId, apiKey } = sender
    const { messageId } = await acceptMessage(service, sender)
    await countAll(service)
    const before = await totals(accountId)
    const ofMessage = isOfAccount(type) ? {} : { messageId }
    await happen(service, accountId, { type, ...ofMessage, detail: { ...row.sample } })
    await countAll(service)

    const feed = await ask<{ data: { type: string }[] }>(apiKey, '/v2/events/feed?limit=100')
    const name = type === 'expired' ? type : (row.v2 ?? type)
    t.equal(feed.data.at(-1)?.type, name, `the feed reports ${type}`)

    const after = await totals(accountId)
    const grown = Object.keys(after).filter((metric) => (after[metric] ?? 0) > (before[metric] ?? 0))
    t.equal(grown.length > 0, row.countedAs.length > 0, `${type} is counted`)
    t.same(
      grown.filter((metric) => !row.countedAs.includes(metric)),
      [],
      `${type} is counted as nothing else`,
    )

    if (row.log.indexed) {
      const day = new Date(Date.now() - 86_400_000).toISOString().slice(0, 10)
      const log = await ask<{ data: { status: string }[] }>(
        apiKey,
        `/v2/logs?startdate=${day}&events=${row.log.filter}`,
      )
      t.equal(log.data.length, 1, `the log finds ${type} by ${row.log.filter}`)
      if (row.log.statuses.length > 0) t.ok(row.log.statuses.includes(log.data[0]?.status ?? ''), `a status of ${type}`)
    }

    const [sample] = sampleEvents([type as 'sent'], new Date())
    for (const [format, body] of [
      ['v2', (event: Event) => v2Body([event], V2)],
      ['v3', (event: Event) => v3Body([event])],
    ] as const) {
      const called = row[format]
      if (called === null) {
        t.throws(() => eventsNamed([type], format), `${format} webhooks cannot be told of ${type}`)
        if (sample) t.notMatch(body(sample), /"(EVENT|event)"/, `${format} webhooks leave ${type} out`)
      } else {
        t.ok(eventsNamed([called], format).includes(type as 'sent'), `${format} webhooks know ${called}`)
        t.match(JSON.parse(sample ? body(sample) : '[]'), [format === 'v2' ? { EVENT: called } : { event: called }])
      }
    }

    const kind = sample && kindOf(sample)
    if (row.exportKinds.length === 0) t.notOk(kind)
    else t.ok(row.exportKinds.includes(kind ?? ''), `a dump calls ${type} ${kind}`)
    for (const each of row.exportKinds) t.ok(typesOf([each]).includes(type), `a dump of ${each} has ${type}`)
  }
})

t.test('the pages about events and webhooks name each type as clients see it', async (t) => {
  const [events, webhooks] = ['events.md', 'webhooks.md'].map((page) => readFileSync(join(DOCS, page), 'utf8'))
  for (const [type, { v2, v3, log }] of ROWS) {
    t.match(events, `\`${v2 ?? type}\``)
    if (log.filter) t.match(events, `\`${log.filter}\``)
    for (const name of [v2, v3]) if (name) t.match(webhooks, name)
  }
})

t.test('the page about events names each detail of an event', (t) => {
  const [page, details] = [join(DOCS, 'events.md'), join(CORE, 'events/event-detail.ts')].map((file) =>
    readFileSync(file, 'utf8'),
  ) as [string, string]
  const feed = page.slice(page.indexOf('## The feed'), page.indexOf('## What a delivery waits for'))
  const names = [...details.matchAll(/readonly (\w+)\?:/g)].map(([, name]) => name as string)
  t.ok(names.length > 20)
  t.same(
    names.filter((name) => !feed.includes(`\`${name}\``)),
    [],
  )
  t.end()
})

async function totals(accountId: number): Promise<Record<string, number>> {
  const [row = {}] = await service.sql<Record<string, unknown>[]>`
    select * from roll_ups where account_id = ${accountId} and subject = 'total'`
  return Object.fromEntries(
    Object.entries(row).flatMap(([name, value]) =>
      ['account_id', 'place', 'delivery_times', 'name', 'subject', 'day'].includes(name) ? [] : [[name, Number(value)]],
    ),
  )
}

async function ask<T>(apiKey: string, path: string): Promise<T> {
  const { status, json, text } = await call(url, { method: 'GET', path, headers: { api_key: apiKey } })
  if (status !== 200) throw new Error(text)
  return json as T
}
