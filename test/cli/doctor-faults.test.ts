import { chmodSync, mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openDatabase } from '@postrider/core'
import t from 'tap'
import { makeAuthority } from '../delivery/authority.ts'
import { makeWholeDatabase } from '../helpers/database.ts'
import { startDns } from '../helpers/dns.ts'
import { makeService, makeServiceOn } from '../helpers/service.ts'
import { until } from '../helpers/until.ts'
import { examined, faultsOf, foundBy } from './doctor.ts'

t.test('faults are named with what corrects them', async (t) => {
  const service = await makeServiceOn(t, await makeWholeDatabase())
  const { env, sql, core } = service
  const sender = await service.makeSender()
  await service.openApi()
  const database = new URL(env.DATABASE_URL as string).pathname.slice(1)

  await t.test('in processes: those that are stopped, and workers that died', async (t) => {
    await sql`insert into workers (host, pid) values ('mail-7', 4711)`
    // As a relay that hangs.
    const hanging = openDatabase({ url: env.DATABASE_URL as string, name: 'relay', connections: 1 })
    await hanging`select 1`
    t.match(
      foundBy(await examined(env), 'relay'),
      /^bad: no response at .*; fix: the process is connected to the database, so it may hang/,
    )
    await hanging.end()
    const isThere = () =>
      sql`select from pg_stat_activity where datname = current_database() and application_name like 'postrider relay %'`
    await until('it is gone', async () => (await isThere()).length === 0)
    t.teardown(() => sql`delete from workers`)
    const diagnosis = await examined(env, '--send', 'you@example.org')
    t.equal(diagnosis.code, 1)
    t.strictSame(faultsOf(diagnosis), [
      'relay',
      'delivery',
      'returns',
      'sandbox',
      'worker leases',
      'outbound SMTP',
      'message by v2',
      'message by v3',
    ])
    t.match(
      foundBy(diagnosis, 'relay'),
      /^bad: no response at .*; fix: npm start, .*node packages\/relay\/src\/server\.ts$/,
    )
    t.match(
      foundBy(diagnosis, 'delivery'),
      /^bad: no delivery worker is running, .*; fix: .*packages\/delivery\/src\/worker\.ts/,
    )
    t.match(foundBy(diagnosis, 'worker leases'), /^warn: dead, but still registered: process 4711 on mail-7;/)
    t.match(
      foundBy(diagnosis, 'message by v2'),
      /^bad: accepted \d+ ms, but not tried within 1 s; fix: postrider message why/,
    )
    t.match(foundBy(diagnosis, 'message by smtp'), /^not checked: the relay of this host does not accept mail$/)
  })

  await t.test('in the database: settings, schema, partitions and a clock that differs', async (t) => {
    await sql.unsafe(`alter database ${database} set synchronous_commit = off`)
    await sql`alter table delivery_queue set (autovacuum_enabled = false)`
    await sql`delete from schema_migrations where name like '0015%'`
    await sql`insert into schema_migrations (name, digest) values ('9999_later.sql', '')`
    const [week] = await sql<{ name: string }[]>`
      select to_char((service_now() + interval '3 weeks') at time zone 'UTC', '"events_"IYYY"w"IW') as name`
    await sql.unsafe(`drop table ${week?.name}`)
    await core.readiness.check()
    const [now, began] = [Date.now, performance.now()]
    Date.now = () => now() + 50_000
    const diagnosis = await examined(env).finally(() => (Date.now = now))
    const took = (performance.now() - began) / 1000
    t.equal(diagnosis.code, 1)
    t.match(
      foundBy(diagnosis, 'durability'),
      /^bad: synchronous_commit is off, .*; fix: ALTER SYSTEM SET synchronous_commit = on;/,
    )
    t.match(
      foundBy(diagnosis, 'autovacuum'),
      'bad: autovacuum is off for delivery_queue; fix: ALTER TABLE delivery_queue RESET (autovacuum_enabled)',
    )
    t.match(
      foundBy(diagnosis, 'migrations'),
      /^bad: 1 migration .* is not applied: 0015_returns.sql; fix: postrider migrate$/,
    )
    t.match(
      foundBy(diagnosis, 'partitions'),
      new RegExp(`^warn: missing partitions: ${week?.name}; fix: .*"cleanup failed"`),
    )
    const clock = /^warn: the clock of this host is (\d+) s ahead of the database's; fix: .*NTP/
    // The database reads its clock while the check takes its time, and by then this host's is less far ahead of it.
    const ahead = Number(clock.exec(foundBy(diagnosis, 'clock'))?.[1])
    t.ok(ahead <= 50 && ahead >= Math.floor(50 - took), `${ahead} s, found within ${took} s`)
    t.match(foundBy(diagnosis, 'api'), /^bad: not ready: migrations not applied: 0015_returns.sql/)

    await sql`insert into schema_migrations (name, digest) values ('0015_returns.sql', '')`
    await sql.unsafe(`drop table ${week?.name.replace('events', 'messages')}`)
    const [next] = await sql<{ name: string }[]>`
      select to_char((service_now() + interval '1 week') at time zone 'UTC', '"events_"IYYY"w"IW') as name`
    await sql.unsafe(`drop table ${next?.name}`)
    const later = await examined(env)
    t.match(
      foundBy(later, 'migrations'),
      /^bad: a newer version has migrated this database: 9999_later.sql; fix: run the newer/,
    )
    t.match(
      foundBy(later, 'partitions'),
      new RegExp(`^bad: missing partitions: ${next?.name}, ${week?.name}, messages_`),
    )
    await sql`delete from schema_migrations where name like '9999%'`
    await sql.unsafe(`alter database ${database} reset synchronous_commit`)
    await sql`select ensure_partitions(service_now(), 6)`
    await core.readiness.check()
  })

  await t.test('in the mail: events without numbers, webhooks, domains, and deliveries set aside', async (t) => {
    const { webhook } = await core.webhooks.create(
      sender.accountId,
      {
        url: 'https://hooks.example/secret-path',
        events: ['sent'],
        names: null,
        format: 'v2',
        headers: {},
        asText: false,
        abuse: false,
        eventIds: false,
        enabled: true,
        label: '',
        signed: false,
      },
      undefined,
      { ask: false },
    )
    await sql`
      insert into webhook_batches (webhook_id, account_id, after_number, to_number, types, state)
      values (${webhook.id}, ${sender.accountId}, 0, 1, '{sent}', 'dead')`
    await sql`update events set occurred_at = occurred_at - interval '20 minutes'`
    await sql`update delivery_queue set set_aside = 'it crashed two workers' where message_id = (select min(message_id::text)::uuid from delivery_queue)`
    const other = await service.makeSender()
    await sql`
      update domains set broken_since = service_now(), records = jsonb_build_object('TXT ' || name, '{"state":"wrong"}'::jsonb,
             'TXT _dmarc.' || name, '{"state":"missing"}'::jsonb) where name = ${other.domain}`
    const diagnosis = await examined(env)
    t.match(
      foundBy(diagnosis, 'event numbers'),
      /^bad: the oldest event without a number happened 20 min ago; .*; fix: start a delivery worker/,
    )
    t.match(
      foundBy(diagnosis, 'webhooks'),
      new RegExp(
        `^warn: 1 with dead-lettered batches: webhooks ${webhook.id} of account ${sender.accountId}; fix: .*redeliver`,
      ),
    )
    t.notMatch(JSON.stringify(diagnosis), 'secret-path')
    t.match(
      foundBy(diagnosis, 'set-aside deliveries'),
      /^warn: 1 delivery crashed workers and wait: messages [0-9a-f]{32}; fix: .*message aside/,
    )
    t.match(
      foundBy(diagnosis, 'sending domains'),
      /^warn: 1 of the active ones will be inactive, .* 2 active, 0 inactive/,
    )
    t.match(
      foundBy(diagnosis, 'records of domains'),
      `warn: missing or wrong at the last check: SPF of 1, DMARC of 1; ${other.domain} (SPF, DMARC); fix: postrider domain dns ${other.domain}`,
    )
  })

  await t.test('in settings: another secret key, and settings for tests where mail is real', async (t) => {
    const real = {
      ...env,
      SECRET_KEY: 'another key, of 32 characters or more',
      DELIVERY: 'smtp://127.0.0.1:1',
      ALLOW_UNSAFE_DATABASE: '1',
    }
    const diagnosis = await examined(real, '--send', 'you@example.org')
    t.match(
      foundBy(diagnosis, 'secret key'),
      /^bad: SECRET_KEY differs from .*; fix: set SECRET_KEY to the value of the first host/,
    )
    t.match(
      foundBy(diagnosis, 'settings for tests'),
      /^bad: ALLOW_UNSAFE_DATABASE=1: .*; fix: unset ALLOW_UNSAFE_DATABASE,/,
    )
    t.match(
      foundBy(diagnosis, 'mail to the operator'),
      /^warn: OPERATOR_MAIL is not set.*; fix: set OPERATOR_MAIL and SERVICE_DOMAIN$/,
    )
    t.match(
      foundBy(diagnosis, 'outbound SMTP'),
      'bad: 127.0.0.1:1: no response; fix: check the host and port in DELIVERY',
    )
    t.match(foundBy(diagnosis, 'messages'), 'not checked: the secret key does not agree with the database')
  })

  await t.test('with a database that does not respond, all others are checked', async (t) => {
    const DATA_DIR = mkdtempSync(join(tmpdir(), 'open-'))
    chmodSync(DATA_DIR, 0o775)
    writeFileSync(join(DATA_DIR, 'secret-key'), 'a key', { mode: 0o600 })
    const diagnosis = await examined({ ...env, DATA_DIR, DATABASE_URL: 'postgres://nobody@127.0.0.1:1/none' })
    t.equal(diagnosis.code, 1)
    t.equal(
      foundBy(diagnosis, 'data folder'),
      `warn: other users of this host can change DATA_DIR (${DATA_DIR}, mode 0775); fix: chmod 700 ${DATA_DIR}`,
    )
    t.match(foundBy(diagnosis, 'connection'), /^bad: could not connect: .*ECONNREFUSED.*; fix: start the database/)
    t.match(foundBy(diagnosis, 'partitions'), 'not checked: the database does not respond')
    t.match(foundBy(diagnosis, 'api'), /^ok: ready at/)
    const { DATABASE_URL: _, ...embedded } = env
    t.match(foundBy(await examined(embedded), 'connection'), /^bad: DATA_DIR has no database .*; fix: set DATA_DIR/)
  })
})

t.test('the records and the way out of a service that sends to the world', async (t) => {
  const dns = await startDns(t, {
    'example.org': { mx: [[10, 'mx.example.org']] },
    'mx.example.org': { a: ['127.0.0.1'] },
    'mail.service.example': { a: ['45.0.0.1'] },
  })
  const { env, core, sql } = await makeService(t, {
    DELIVERY: 'mx',
    MX_PORT: '1',
    DNS_SERVERS: dns.address,
    HELO_NAME: 'mail.service.example',
    PUBLIC_URL: 'http://click.service.example',
    OPERATOR_MAIL: 'op@example.org',
    SERVICE_DOMAIN: 'service.example',
  })
  const diagnosis = await examined(env, '--send', 'you@example.org')
  t.match(foundBy(diagnosis, 'HELO name'), 'ok: A mail.service.example')
  t.match(
    foundBy(diagnosis, 'reverse DNS'),
    /^bad: PTR 1\.0\.0\.45\.in-addr\.arpa: does not exist; fix: have the provider/,
  )
  t.match(
    foundBy(diagnosis, 'return path'),
    /^bad: TXT mail\.service\.example: no SPF record; fix: publish what "postrider dns" prints$/,
  )
  t.match(foundBy(diagnosis, 'other records'), /^warn: A click\.service\.example: does not exist/)
  t.match(
    foundBy(diagnosis, 'public URL'),
    /^bad: http:\/\/click\.service\.example does not lead to the API, as seen from this host: /,
  )
  t.match(
    foundBy(diagnosis, 'outbound SMTP'),
    /^bad: mx\.example\.org:1: no response; fix: .*outbound port 1, or set DELIVERY/,
  )
  t.match(foundBy(diagnosis, 'WAL archive'), /^warn: archive_mode is off/)
  t.match(foundBy(diagnosis, 'sending domains'), /^warn: none is active/)
  t.match(foundBy(diagnosis, 'mail to the operator'), /^bad: OPERATOR_MAIL gets nothing: .*service\.example/)
  t.match(
    foundBy(await examined(env, '--send', 'a@nowhere.example'), 'outbound SMTP'),
    /^bad: no mail server of nowhere\.example/,
  )
  await core.sources.add({ name: 'mta-1', address: '45.0.0.1', helo: 'mail.service.example', force: true })
  t.match(
    foundBy(await examined(env), 'source addresses'),
    /^bad: none of 1 source can send: .*; fix: postrider source list/,
  )
  await sql`insert into workers (host, pid) values ('mail-7', 4711)`
  await sql`insert into source_workers (source_id, worker_id) select s.id, w.id from sources s, workers w`
  t.equal(foundBy(await examined(env), 'source addresses'), 'ok: 1 source, none paused or in a block list')
  await core.sources.add({ name: 'mta-2', address: '45.0.0.2', helo: 'mail.service.example', force: true })
  t.match(foundBy(await examined(env), 'source addresses'), /^warn: no running worker has the address of mta-2; fix: /)
  t.match(foundBy(await examined(env), 'outbound SMTP'), /^not checked: the mail servers of gmail\.com are unknown/)
})

t.test(
  'the certificate of the relay: one for another name, one not trusted, one renewed, and one expired',
  async (t) => {
    const authority = await makeAuthority()
    const folder = mkdtempSync(join(process.env.TEST_FOLDER ?? tmpdir(), 'certificate-'))
    const [TLS_CERT, TLS_KEY] = [join(folder, 'cert.pem'), join(folder, 'key.pem')] as const
    const write = async (name: string, options?: { expired: boolean }) => {
      const { cert, key } = await authority.issue([name], options)
      writeFileSync(TLS_CERT, cert)
      writeFileSync(TLS_KEY, key)
    }
    await write('other.test')
    const service = await makeService(t, { TLS_CERT, TLS_KEY })
    const found = async () => foundBy(await examined(service.env), 'certificate of the relay')
    t.match(
      await found(),
      /^warn: issued for DNS:other\.test, not for relay\.test \(HELO_NAME\); fix: renew the files of TLS_CERT/,
    )
    await write('relay.test')
    await service.openRelay()
    t.match(
      await found(),
      /^warn: clients may not trust it \(UNABLE_TO_VERIFY_LEAF_SIGNATURE\); fix: TLS_CERT needs the intermediate/,
    )
    await write('relay.test')
    t.match(
      await found(),
      /^warn: the relay still uses another certificate than .*cert\.pem; fix: replace the relay: SIGHUP to/,
    )
    const { env } = await makeService(t, { TLS_CERT, TLS_KEY })
    await write('relay.test', { expired: true })
    t.match(foundBy(await examined(env), 'certificate of the relay'), /^bad: it expired on 20\S+; fix: renew/)
    const own = await makeService(t, { DELIVERY: 'smtp://127.0.0.1:1' })
    await own.openRelay()
    t.match(
      foundBy(await examined(own.env), 'certificate of the relay'),
      /^warn: self-signed: .*, and each host makes its own; fix: set TLS_CERT .*; all relays of one name need the same/,
    )
  },
)
