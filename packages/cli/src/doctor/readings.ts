import {
  type Config,
  type DatabaseActivity,
  type DatabaseFacts,
  type DnsPlan,
  type DomainOverview,
  listWorkers,
  planDns,
  type Replication,
  readActivity,
  readDatabaseFacts,
  readDomainOverview,
  readReplication,
  readSchemaState,
  readServerState,
  readTableState,
  type SchemaState,
  type ServerState,
  type Sql,
  type TableState,
  type WorkerSummary,
} from '@postrider/core'
import { local, reachable } from '../first-run.ts'
import { smtpGreeting } from '../smtp/greeting.ts'
import { NotChecked } from './check-result.ts'

/** The response to a health check over HTTP. */
export interface Health {
  readonly status: number
  /** The reasons why a process is not ready. */
  readonly reasons: readonly string[]
}

/** The state that checks evaluate. Each part is read once, when the first check requests it. */
export interface Readings {
  readonly config: Config
  readonly env: NodeJS.ProcessEnv
  /** The recipient of the test messages; undefined if none are sent. */
  readonly recipient: string | undefined
  /** No mail server of others is connected to, except for a recipient. */
  readonly offline: boolean
  /** Throws {@link NotChecked} if the database does not respond. */
  readonly sql: () => Sql
  readonly facts: () => Promise<DatabaseFacts>
  readonly server: () => Promise<ServerState>
  readonly activity: () => Promise<DatabaseActivity>
  readonly replication: () => Promise<Replication>
  readonly tables: () => Promise<TableState>
  readonly schema: () => Promise<SchemaState>
  readonly workers: () => Promise<WorkerSummary[]>
  readonly domains: () => Promise<DomainOverview>
  readonly dns: () => Promise<DnsPlan>
  /** The API of this host; undefined if it does not respond. */
  readonly api: () => Promise<Health | undefined>
  /** The first line of the SMTP servers of this host; undefined if they do not respond. */
  readonly relay: () => Promise<string | undefined>
  readonly returns: () => Promise<string | undefined>
}

export interface ReadingsOptions {
  readonly config: Config
  readonly env: NodeJS.ProcessEnv
  readonly recipient: string | undefined
  readonly offline?: boolean
  readonly sql: Sql | undefined
}

/** Milliseconds for a response of a process, and for all lookups in the DNS. */
export const RESPONSE_MS = 5000
export const DNS_MS = 15_000

export function createReadings({ config, env, recipient, offline = false, sql }: ReadingsOptions): Readings {
  const database = (): Sql => {
    if (sql === undefined) throw new NotChecked('the database does not respond')
    return sql
  }
  return {
    config,
    env,
    recipient,
    offline,
    sql: database,
    facts: once(() => readDatabaseFacts(database())),
    server: once(() => readServerState(database())),
    activity: once(() => readActivity(database())),
    replication: once(() => readReplication(database())),
    tables: once(() => readTableState(database())),
    schema: once(() => readSchemaState(database())),
    workers: once(() => listWorkers(database())),
    domains: once(() => readDomainOverview(database())),
    dns: once(() => planDns({ sql: database(), config, deadlineMs: DNS_MS })),
    api: once(() => readHealth(`http://${reachable(local(config.apiHost))}:${config.apiPort}/health/ready`)),
    relay: once(() => smtpGreeting(local(config.relayHost), config.relayPort, RESPONSE_MS)),
    returns: once(() => smtpGreeting(local(config.returnsHost), config.returnsPort, RESPONSE_MS)),
  }
}

function once<T>(read: () => Promise<T>): () => Promise<T> {
  let reading: Promise<T> | undefined
  return async () => {
    reading ??= read()
    return reading
  }
}

async function readHealth(url: string): Promise<Health | undefined> {
  const response = await fetch(url, { signal: AbortSignal.timeout(RESPONSE_MS) }).catch(() => undefined)
  if (response === undefined) return undefined
  const body = (await response.json().catch(() => ({}))) as { reasons?: unknown }
  const reasons = Array.isArray(body.reasons) ? body.reasons.slice(0, 10).map(String) : []
  return { status: response.status, reasons }
}
