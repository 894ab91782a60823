import { join } from 'node:path'
import { startEmbeddedPostgres } from '@postrider/cli/embedded-postgres'
import { openDatabase, type Sql } from '@postrider/core'
import { MEMORY } from '../../packages/cli/src/memory.ts'
import { freePort, type Running, start } from '../harness/processes.ts'
import type { Known } from './call.ts'
import { type Filled, SECRET_KEY } from './fill.ts'
import type { Doors } from './measure.ts'

/** Plans of statements that take longer, with what they read; their timing would double the time they take. */
const EXPLAINED = (bound: number): string[] => [
  'session_preload_libraries=auto_explain',
  `auto_explain.log_min_duration=${bound}`,
  'auto_explain.log_analyze=on',
  'auto_explain.log_buffers=on',
  'auto_explain.log_timing=off',
  'log_line_prefix=%m ',
]

/** The filled database with the service's processes on it. */
export interface Installation extends Doors {
  readonly sql: Sql
  readonly env: Readonly<Record<string, string>>
  readonly logFile: string
  readonly processes: Readonly<Record<string, { readonly running: Running; readonly startedIn: number }>>
  close(): Promise<void>
}

const FILES = {
  api: 'packages/api/src/server.ts',
  relay: 'packages/relay/src/server.ts',
  worker: 'packages/delivery/src/worker.ts',
} as const

/** Throws an Error with what it said when a process does not start. */
export async function openInstallation(folder: string, filled: Filled, bound: number): Promise<Installation> {
  const postgres = await startEmbeddedPostgres({ dataDir: folder, settings: EXPLAINED(bound) })
  const sql = openDatabase({ url: postgres.url, name: 'growth', connections: 2 })
  const port = await freePort()
  const env = {
    DATABASE_URL: postgres.url,
    DATA_DIR: folder,
    SECRET_KEY,
    API_PORT: String(port),
    RELAY_PORT: String(await freePort()),
    RELAY_TLS_PORT: String(await freePort()),
    // Nothing is due; and nobody is there who would take it.
    DELIVERY: 'smtp://127.0.0.1:9',
    LOG_LEVEL: 'info',
  }
  const processes: Record<string, { running: Running; startedIn: number }> = {}
  const close = async (): Promise<void> => {
    for (const { running } of Object.values(processes)) await running.stop()
    await sql.end({ timeout: 5 })
    await postgres.stop()
  }
  try {
    for (const [name, file] of Object.entries(FILES)) {
      const began = performance.now()
      const command = { env: { ...MEMORY.env, ...env }, ready: /"msg":"started"/ }
      const running = await start(process.execPath, [...MEMORY.flags, file], command)
      processes[name] = { running, startedIn: performance.now() - began }
    }
  } catch (error) {
    await close()
    throw error
  }
  const url = `http://127.0.0.1:${port}`
  return { sql, env, logFile: join(folder, 'postgres.log'), processes, url, apiKey: filled.apiKey, close }
}

/** Looks up, or makes the first time, what calls are about. */
export async function findKnown({ sql, url, apiKey }: Installation, filled: Filled): Promise<Known> {
  const { large } = filled
  const made = async (path: string, headers: Record<string, string>, body: object): Promise<unknown> => {
    const json = { 'content-type': 'application/json', ...headers }
    const answer = await fetch(`${url}${path}`, { method: 'POST', headers: json, body: JSON.stringify(body) })
    if (!answer.ok) throw new Error(`${path} answered ${answer.status}: ${await answer.text()}`)
    return answer.json()
  }
  const day = (before: number): string =>
    new Date(Date.parse(filled.filledAt) - before * 86_400_000).toISOString().slice(0, 10)
  const one = async (text: string): Promise<string> => String((await sql.unsafe(text))[0]?.one)
  if ((await sql`select 1 from export_jobs where account_id = ${large} limit 1`).length === 0) {
    const asked = { startdate: day(20), enddate: day(20), email: 'desk@large-0.example' }
    await made('/v2/stats/export', { api_key: apiKey }, asked)
  }
  if ((await sql`select 1 from webhooks where account_id = ${large} limit 1`).length === 0) {
    const hook = { url: 'https://hooks.example/events', enabled: false, delivered: true }
    await made('/v3/user/webhooks/event/settings', { authorization: `Bearer ${apiKey}` }, hook)
  }
  await sql`
    insert into webhook_batches (webhook_id, account_id, after_number, to_number, types, state, failed_since, failed_at)
    select w.id, w.account_id, i, i + 1, '{sent}', 'dead', now(), now() from generate_series(1, 1000) i,
           (select id, account_id from webhooks where account_id = ${large} order by id limit 1) w
     where not exists (select from webhook_batches where account_id = ${large})`
  await sql`
    with hook as (
      update webhooks set succeeded = 1000 where id = (select id from webhooks where account_id = ${large} order by id limit 1) and succeeded = 0 returning id
    )
    insert into webhook_deliveries (webhook_id, place, account_id, batch_id, at, after_number, to_number, attempt, status, milliseconds, types, written,
           events, request_head, answer_head, answer)
    select id, i, ${large}, gen_random_uuid(), now() - i * interval '1 second', 100 * (i - 1), 100 * i, 1, 200, 20, '{sent}',
           '{"format":"v2","asText":false,"abuse":false,"eventIds":true,"names":null}', 100, '{}', '[]', 'ok'::bytea
      from hook, generate_series(1, 1000) i`
  // Those of the fill have no body that could be built.
  const sent = (await made(
    '/v2/sendEmail',
    { api_key: apiKey },
    {
      from: { fromEmail: 'desk@large-0.example', fromName: 'Desk' },
      subject: 'Your berth is ready',
      content: '<p>Dear reader, your berth is ready.</p>',
      personalizations: [{ recipient: 'person@reader.example' }],
      schedule: Math.floor(Date.now() / 1000) + 3600,
    },
  )) as { data: { message_id: string } }
  const list = async (api: 'v2' | 'v3', path: string): Promise<unknown> => {
    const headers: Record<string, string> = api === 'v2' ? { api_key: apiKey } : { authorization: `Bearer ${apiKey}` }
    return (await fetch(`${url}/${api}${path}`, { headers })).json()
  }
  const exports = (await list('v2', '/stats/exports')) as { data: { jobId: string }[] }
  const hooks = (await list('v3', '/user/webhooks/event/settings/all')) as { webhooks: { id: string }[] }
  const keys = (await list('v3', '/api_keys')) as { result: { api_key_id: string }[] }
  return {
    day,
    daySeconds: (before) => Math.floor(Date.parse(`${day(before)}T00:00:00Z`) / 1000),
    subaccount: 'sub-7',
    message: await one(`select replace(id::text, '-', '') as one from messages where account_id = ${large} limit 1`),
    sent: sent.data.message_id,
    last: Number(await one(`select max(first_number + count - 1) as one from event_pages where account_id = ${large}`)),
    jobId: exports.data[0]?.jobId ?? '',
    webhook: await one(`select id as one from webhooks where account_id = ${large} limit 1`),
    webhookRequest: await one(
      `select (extract(epoch from at) * 1000000)::bigint as one from webhook_deliveries where account_id = ${large} and place = 1 limit 1`,
    ),
    editableWebhook: hooks.webhooks[0]?.id ?? '',
    template: Number(await one(`select id as one from templates where account_id = ${large} order by id limit 1`)),
    legacy: await one(`select id as one from editable_templates where account_id = ${large} order by id limit 1`),
    version: await one(
      `select id as one from editable_versions where account_id = ${large} order by template_id limit 1`,
    ),
    batch: 'batch-2',
    keyId: keys.result[0]?.api_key_id ?? '',
  }
}
