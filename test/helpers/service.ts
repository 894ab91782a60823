import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import {
  type Config,
  type Core,
  createCore,
  createLog,
  ensureCertificate,
  openDatabase,
  readConfig,
  type Sql,
} from '@postrider/core'
import type { Test } from 'tap'
import { makeDatabase, type TestDatabase } from './database.ts'
import { freePorts } from './ports.ts'
import { createSenderKeys } from './sender-keys.ts'

/** An account with a key and an active sending domain, made for one test. */
export interface Sender {
  readonly accountId: number
  readonly accountName: string
  readonly apiKey: string
  readonly domain: string
}

/** The service's core on a database of its own, with its doors opened on request. */
export interface TestService {
  readonly sql: Sql
  readonly core: Core
  readonly config: Config
  readonly env: Readonly<Record<string, string>>
  /** Nothing is added to its mail, unless `tracking`: then opens and clicks are tracked, as for any new account. */
  makeSender(options?: { readonly tracking?: boolean }): Promise<Sender>
  /** The first key of this domain, which will be added, is one that the test run makes only once: for tests that add many. */
  giveKey(domain: string): Promise<void>
  /** Opens the API and answers its base URL. */
  openApi(): Promise<string>
  /** Opens the relay on its two ports. */
  openRelay(): Promise<void>
  /** Opens the port for mail that comes back. */
  openReturns(): Promise<void>
}

/** The cost of hashing a password. At that of an installation, a fifth of a second each, it was 7 % of the tests' processor time. */
const QUICK = { N: 16, r: 8, p: 1 }

let senders = 0

/** What is stored of what a message asked for: only what is on, be it by itself or by its account. */
export function settled(asked: Readonly<Record<string, unknown>>, byDefault: Readonly<Record<string, unknown>> = {}) {
  return Object.fromEntries(Object.entries({ ...byDefault, ...asked }).filter(([, on]) => on !== false))
}

async function switchTrackingOff(sql: Sql, accountId: number): Promise<void> {
  await sql`update accounts set open_tracking = false, click_tracking = false, generate_text = false where id = ${accountId}`
}

/** `server`: the URL of a Postgres the test owns, instead of the test run's. */
export async function makeService(
  t: Test,
  settings: Record<string, string> = {},
  server?: string,
): Promise<TestService> {
  return makeServiceOn(t, await makeDatabase(server), settings)
}

/** On a database that this test has made; DATABASE_READ_URL leads to the standby of that database. */
export async function makeServiceOn(
  t: Test,
  database: TestDatabase,
  settings: Record<string, string> = {},
): Promise<TestService> {
  const [api, relay, relayTls, smtp, http, returns] = await freePorts(6)
  const env = {
    DATABASE_URL: database.url,
    DATA_DIR: mkdtempSync(join(process.env.TEST_FOLDER ?? tmpdir(), 'data-')),
    API_PORT: String(api),
    RELAY_PORT: String(relay),
    RELAY_TLS_PORT: String(relayTls),
    SANDBOX_SMTP_PORT: String(smtp),
    SANDBOX_HTTP_PORT: String(http),
    RETURNS_PORT: String(returns),
    HELO_NAME: 'relay.test',
    SECRET_KEY: 'a secret key that only tests may know',
    LOG_LEVEL: 'silent',
    // A test makes in seconds the calls, and the mistakes, of hours.
    CALLS_PER_MINUTE: '100000',
    WRONG_KEYS_PER_MINUTE: '100000',
    // It also bounces as much as a bad list.
    REPUTATION_RULES: 'none',
    ...settings,
    ...(settings.DATABASE_READ_URL
      ? { DATABASE_READ_URL: new URL(new URL(database.url).pathname, settings.DATABASE_READ_URL).href }
      : {}),
  }
  const config = readConfig(env)
  const log = createLog('test', config.logLevel)
  const keys = createSenderKeys()
  const standby = config.databaseReadUrl
    ? openDatabase({ url: config.databaseReadUrl, name: 'test', connections: 2 })
    : undefined
  const core = createCore({ sql: database.sql, standby, config, log, givenKey: keys.take, passwordCost: QUICK })
  await core.readiness.check()
  t.teardown(async () => {
    core.readiness.close()
    await standby?.end({ timeout: 1 })
    await database.drop()
  })
  return {
    sql: database.sql,
    core,
    config,
    env,
    async makeSender({ tracking = false } = {}) {
      const number = ++senders
      const accountName = `account-${process.pid}-${number}`
      const account = await core.accounts.create(accountName)
      if (!tracking) await switchTrackingOff(database.sql, account.id)
      const { secret } = await core.auth.createKey({ accountId: account.id })
      const domain = `ship${number}.example`
      await keys.give(domain)
      await core.domains.add({ accountId: account.id, name: domain, state: 'active' })
      return { accountId: account.id, accountName, apiKey: secret, domain }
    },
    giveKey: keys.give,
    async openApi() {
      const { buildApp } = await import('@postrider/api')
      const app = await buildApp({ core, config, log })
      const url = await app.listen({ host: '127.0.0.1', port: config.apiPort })
      t.teardown(() => app.close())
      return url
    },
    async openRelay() {
      const { createRelay } = await import('@postrider/relay')
      const server = createRelay({ core, config, log, certificate: await ensureCertificate(config) })
      await server.listen()
      t.teardown(() => server.close())
    },
    async openReturns() {
      const { createReturns } = await import('@postrider/relay/returns')
      const server = createReturns({ core, config, log, certificate: await ensureCertificate(config) })
      await server.listen()
      t.teardown(() => server.close())
    },
  }
}
