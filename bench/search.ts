import { readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { startEmbeddedPostgres } from '@postrider/cli/embedded-postgres'
import { createCore, createLog, migrate, openDatabase, parseSearch, readConfig, type Sql } from '@postrider/core'
import { FILL_SETTINGS, SECRET_KEY } from './growth/fill.ts'

/**
 * What searches take (docs/decisions/0038-search.md): `node bench/search.ts [--messages N] [--days N] [--rounds N] [--data DIR]`. Fills a database with
 * N messages (11,000,000) within `days` (42), of which account 1 has ten of eleven, and account 2 the others; every subject of account 1 has the
 * word "invoice". Then the worker's part: what it takes to put them into blocks. Then each search of the last 30 days, and meanwhile lists of account 2.
 * With --data the folder is kept, and used again. Beside the time of a page by the clock, it tells the processor time, of the process and of the
 * database, until the search is complete or has a page of 50: what other programs do on the machine is not in it.
 */
const { values } = parseArgs({
  options: {
    messages: { type: 'string', default: '11000000' },
    days: { type: 'string', default: '42' },
    rounds: { type: 'string', default: '20' },
    data: { type: 'string' },
  },
})
const MESSAGES = Number(values.messages)
const ROUNDS = Number(values.rounds)

/** Searches, with what they look for. A number is drawn anew for each round. */
const SEARCHES: Readonly<Record<string, (draw: (below: number) => number) => string>> = {
  'in every subject': () => 'invoice',
  'of 1 in 5000 subjects': () => 'torustski',
  'in none': (draw) => `quxquux${draw(1e6)}`,
  'a name of 1 in 400': () => 'rosunder',
  'a name and a word, rarely together': () => 'rosunder torustski',
  'an order number': (draw) => `order-${1_000_000 + draw(MESSAGES)}`,
  'a number in the subject': (draw) => String(draw(MESSAGES)),
  'the beginning of many numbers': (draw) => String(1000 + draw(100)),
  'a part of an address': (draw) => `solmann${draw(90)}`,
  'bounced, with a word': () => 'state:bounced linelski',
}

const percentile = (times: readonly number[], of: number): number =>
  [...times].sort((a, b) => a - b)[Math.min(times.length - 1, Math.floor(times.length * of))] ?? 0
/** Milliseconds on the processor: of this process, and of its sessions. Linux only. */
async function processor(): Promise<number> {
  const sessions = await sql<{ pid: number }[]>`
    select pid from pg_stat_activity where split_part(application_name, ' ', 2) = 'bench'`
  return [process.pid, ...sessions.map(({ pid }) => pid)].reduce((sum, pid) => {
    const [spent = '0'] = readFileSync(`/proc/${pid}/schedstat`, 'utf8').split(' ')
    return sum + Number(spent) / 1e6
  }, 0)
}

const shown = (times: readonly number[]): string =>
  `p50 ${percentile(times, 0.5).toFixed(0)} ms, p95 ${percentile(times, 0.95).toFixed(0)} ms`

const folder = values.data ?? join(tmpdir(), `postrider-search-${process.pid}`)
const server = await startEmbeddedPostgres({ dataDir: folder, settings: FILL_SETTINGS, report: print })
const sql = openDatabase({ url: server.url, name: 'bench', connections: 4 })
const config = readConfig({ DATABASE_URL: server.url, SECRET_KEY, DATA_DIR: tmpdir(), LOG_LEVEL: 'silent' })
const core = createCore({ sql, config, log: createLog('bench', 'silent') })
try {
  await migrate(sql)
  const [has] = await sql`select from messages limit 1`
  if (!has) await fill(sql)
  await fillBlocks()
  await search()
} finally {
  core.readiness.close()
  await sql.end({ timeout: 5 })
  await server.stop()
  if (values.data === undefined) rmSync(folder, { recursive: true, force: true })
}

function print(line: string): void {
  process.stdout.write(`${line}\n`)
}

async function fill(of: Sql): Promise<void> {
  await of`set statement_timeout = 0`
  await of`select ensure_partitions(now() - make_interval(days => ${Number(values.days)}), ${Math.ceil(Number(values.days) / 7) + 6})`
  await of.unsafe(`
    create table if not exists bench_words as
      select n, (array['an','ber','cor','dal','el','far','gun','hol','in','jas','kar','lin','mar','nor','ol','per','quin','ros','sil','tor'])[1 + n % 20]
                || (array['a','e','i','o','u'])[1 + n / 20 % 5] || (array['nd','rt','l','ss','mm','ck','v','b','st','ng'])[1 + n / 100 % 10]
                || (array['er','son','ski','mann','ez'])[1 + n / 1000 % 5] as w
        from generate_series(0, 4999) n`)
  for (let first = 0; first < MESSAGES; first += 500_000) {
    await of.begin(async (one) => {
      await one.unsafe(`
        create temp table planned on commit drop as
        select i, h, at, account_id, a.w || '.' || b.w || h % 90 || '@d' || h % 10000 || '.example' as recipient, c.w as thing,
               (lpad(to_hex((extract(epoch from at) * 1000)::bigint), 12, '0') || '7' || substr(hex, 1, 3) || '8' || substr(hex, 4, 15))::uuid as id
          from (select i, (hashint8extended(i, 1) & 2147483647)::integer as h, md5(i::text) as hex, case when i % 11 = 0 then 2 else 1 end as account_id,
                       now() - interval '${values.days} days' + i * (interval '${values.days} days' / ${MESSAGES}) as at
                  from generate_series(${first}, ${Math.min(first + 500_000, MESSAGES) - 1}) i) d
          join bench_words a on a.n = h % 400 join bench_words b on b.n = h / 400 % 5000 join bench_words c on c.n = h / 13 % 5000`)
      await one.unsafe(`
        insert into messages (id, account_id, domain_id, door, accepted_at, from_address, subject, tags, format, size, parts, recipients, transaction_base)
        select id, account_id, 1, 'v2', at, 'billing@shop.example', case when h % 3 = 0 then 'Ihre Rechnung (invoice) ' || i || ' für ' || thing
               else 'Your invoice ' || i || ' for ' || thing || ' is ready' end, array['tag-' || h % 50], 'content', 2000, 1, 1,
               floor(extract(epoch from at))::bigint * 10000000 + i % 2500000 * 4 from planned order by i`)
      await one.unsafe(`
        insert into finished_deliveries (message_id, recipient_no, account_id, state, recipient, recipient_key, recipient_domain, kind, reference, attempt,
               finished_at)
        select id, 0, account_id, case when h % 1000 < 30 then 'bounced' else 'delivered' end, recipient, recipient, split_part(recipient, '@', 2), 'to',
               'order-' || (1000000 + (i::bigint * 7919) % ${MESSAGES}), 1, at + interval '2 s' from planned order by i`)
    })
    print(`filled up to ${first + 500_000}`)
  }
  await of`vacuum (analyze)`
}

async function fillBlocks(): Promise<void> {
  const began = performance.now()
  const before = process.cpuUsage().user
  while (await core.messages.fillSearch());
  const [row] = await sql<{ blocks: number; size: number }[]>`
    select (select count(*)::int from search_blocks) as blocks,
           (select sum(pg_total_relation_size(inhrelid))::float8 from pg_inherits where inhparent = 'search_blocks'::regclass) as size`
  const per = (value: number): string => (value / MESSAGES).toFixed(1)
  print(
    `blocks: ${row?.blocks}, ${per(row?.size ?? 0)} octets a message; now ${per((performance.now() - began) * 1000)} µs, ` +
      `of which the process ${per(process.cpuUsage().user - before)} µs`,
  )
}

async function search(): Promise<void> {
  let state = 1
  const draw = (below: number): number => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0
    return Math.floor((state / 2 ** 32) * below)
  }
  const list = async (accountId: number, text: string, after?: string) => {
    const began = performance.now()
    const page = await core.messages.list({ accountId, search: parseSearch(text), limit: 50, after })
    return { ...page, took: performance.now() - began }
  }
  const all: number[] = []
  for (const [name, text] of Object.entries(SEARCHES)) {
    const [times, spent, back]: number[][] = [[], [], []]
    for (let round = 0; round < ROUNDS; round++) {
      const words = `${text(draw)} after:30d`
      const before = await processor()
      const first = await list(1, words)
      times?.push(first.took)
      if (first.searchedTo) back?.push((Date.now() - first.searchedTo.getTime()) / 86_400_000)
      let found = first.deliveries.length
      for (let page = first; page.partial && page.next !== null && found < 50; ) {
        page = await list(1, words, page.next)
        found += page.deliveries.length
      }
      spent?.push((await processor()) - before)
    }
    all.push(...(times ?? []))
    const partly = back?.length
      ? `, ${back.length} of ${ROUNDS} of them back to ${percentile(back, 0.5).toFixed(0)} days ago`
      : ''
    print(`${name}: first page ${shown(times ?? [])}${partly}; all on the processor ${shown(spent ?? [])}`)
  }
  print(`all first pages: ${shown(all)}`)
  const others = async (stop: () => boolean): Promise<number[]> => {
    const took: number[] = []
    while (!stop()) {
      took.push((await list(2, '')).took)
      await new Promise((resolve) => setTimeout(resolve, 5))
    }
    return took
  }
  let count = 0
  const alone = await others(() => count++ > 200)
  let isDone = false
  const meanwhile = others(() => isDone)
  for (let round = 0; round < ROUNDS; round++) await list(1, `quxquux${round} after:30d`)
  isDone = true
  print(`lists of the other account: ${shown(alone)} without searches, ${shown(await meanwhile)} beside one`)
}
