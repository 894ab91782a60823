import { type Actor, ALL_ACCOUNTS, noteChange } from '../../accounts/audit/index.ts'
import type { DeliveryClass } from '../../accounts/mail-class.ts'
import { type RelayHost, relayHostOf } from '../../platform/config/delivery-route.ts'
import { isUniqueViolation, type Sql } from '../../platform/database/database.ts'
import { invalidParameter } from '../../platform/errors.ts'
import type { SealedColumn } from '../../platform/security/key-rotation.ts'
import type { Secrets } from '../../platform/security/secrets.ts'
import { LIMITS_CHANNEL } from '../limits/overrides.ts'
import { requireName } from './change-egress.ts'

/**
 * The situations in which a smart host is used. `blocked`: a back-off rule pauses the provider until after the lifetime of the message;
 * `deadline`: half of the lifetime has passed without a session; `spill`: the allowances of new sources are used up.
 */
export const SMART_HOST_USES = ['blocked', 'deadline', 'spill'] as const
export type SmartHostUse = (typeof SMART_HOST_USES)[number]

/** A relay host that delivers what the usual route cannot. */
export interface SmartHost {
  readonly id: number
  readonly name: string
  readonly host: string
  readonly port: number
  readonly usedFor: readonly SmartHostUse[]
  /** The classes of mail that it is used for; null if it is used for all. */
  readonly classes: readonly DeliveryClass[] | null
  /** Messages per day (UTC); null: no limit. */
  readonly dailyCap: number | null
}

/** With the user and password. */
export interface OpenSmartHost extends SmartHost {
  readonly relay: RelayHost
}

export interface NewSmartHost {
  readonly name: string
  /** smtp://user:password@host:port, or smtps:// for implicit TLS. */
  readonly url: string
  readonly usedFor: readonly string[]
  readonly classes?: readonly DeliveryClass[] | undefined
  readonly dailyCap?: number | undefined
}

const MAX_SMART_HOSTS = 20
const MAX_CAP = 1_000_000_000
const MAX_URL = 1000
const PREFIX = 'smarthost:'

/** The name of the destination that a smart host is. Names of providers and sites have no colon, except the host of a fixed route. */
export function smartHostDestination(name: string): string {
  return `${PREFIX}${name}`
}

/** The name of the smart host that a destination is; undefined if it is a provider or site. */
export function smartHostOf(destination: string): string | undefined {
  return destination.startsWith(PREFIX) ? destination.slice(PREFIX.length) : undefined
}

/** Returns the smart hosts in the order in which they were added. */
export async function readSmartHosts(sql: Sql, secrets: Secrets): Promise<OpenSmartHost[]> {
  const rows = await sql<(Omit<OpenSmartHost, 'host' | 'port' | 'relay'> & { url: Buffer })[]>`
    select id, name, url, used_for as "usedFor", classes, daily_cap as "dailyCap" from smart_hosts order by id`
  return rows.map(({ url, ...row }) => {
    const relay = relayHostOf(secrets.open(url, contextOf(row.name)).toString()) as RelayHost
    return { ...row, host: relay.host, port: relay.port, relay }
  })
}

/** Adds a smart host. Throws parameterInvalid. */
export async function addSmartHost(sql: Sql, secrets: Secrets, added: NewSmartHost, by: Actor): Promise<SmartHost> {
  const { name, url, classes, dailyCap } = added
  requireName(name, 'name')
  const relay = url.length > MAX_URL ? undefined : relayHostOf(url)
  if (!relay) throw invalidParameter('url', 'must be smtp://user:password@host:port, or smtps:// for implicit TLS')
  const usedFor = SMART_HOST_USES.filter((use) => added.usedFor.includes(use))
  const unknown = added.usedFor.find((use) => !SMART_HOST_USES.includes(use as SmartHostUse))
  if (unknown !== undefined || usedFor.length === 0) {
    throw invalidParameter('for', `must be one or more of ${SMART_HOST_USES.join(', ')}`)
  }
  if (dailyCap !== undefined && !(Number.isInteger(dailyCap) && dailyCap >= 1 && dailyCap <= MAX_CAP)) {
    throw invalidParameter('daily-cap', `must be a whole number from 1 to ${MAX_CAP}`)
  }
  try {
    await sql.begin(async (transaction) => {
      const [{ count }] = await transaction<[{ count: number }]>`select count(*)::int as count from smart_hosts`
      if (count >= MAX_SMART_HOSTS)
        throw invalidParameter('name', `the limit of ${MAX_SMART_HOSTS} smart hosts is reached`)
      await transaction`
        insert into smart_hosts (name, url, used_for, classes, daily_cap)
        values (${name}, ${secrets.seal(Buffer.from(url), contextOf(name))}, ${usedFor}::text[],
                ${classes ? [...classes] : null}::smallint[], ${dailyCap ?? null}::int)`
      await transaction`select pg_notify(${LIMITS_CHANNEL}, '')`
      const after = { host: relay.host, port: relay.port, usedFor, classes, dailyCap }
      await noteChange(transaction, { ...changeOf(name, by), action: 'smart-host.add', after })
    })
  } catch (error) {
    if (isUniqueViolation(error, 'smart_hosts_name_key')) throw invalidParameter('name', `${name} is in use`)
    throw error
  }
  const found = (await readSmartHosts(sql, secrets)).find((one) => one.name === name)
  if (!found) throw invalidParameter('name', `${name} was removed meanwhile`)
  return withoutSecret(found)
}

/** Removes a smart host. Mail that waits for it takes the usual route. Throws parameterInvalid. */
export async function removeSmartHost(sql: Sql, name: string, by: Actor): Promise<void> {
  await sql.begin(async (transaction) => {
    const { count } = await transaction`delete from smart_hosts where name = ${name}`
    if (count === 0) throw invalidParameter('name', `${JSON.stringify(name.slice(0, 64))} does not exist`)
    await transaction`select pg_notify(${LIMITS_CHANNEL}, '')`
    await noteChange(transaction, { ...changeOf(name, by), action: 'smart-host.remove' })
  })
}

/** For output. */
export function withoutSecret({ relay: _, ...rest }: OpenSmartHost): SmartHost {
  return rest
}

function changeOf(name: string, by: Actor) {
  return { accountId: ALL_ACCOUNTS, by, object: `smart host ${name}` }
}

/** The stored values that are sealed here. */
export const SEALED_SMART_HOSTS: SealedColumn = {
  what: 'URLs of smart hosts',
  table: 'smart_hosts',
  keyType: 'int',
  column: 'url',
  context: (sql) => sql`${contextOf('')} || t.name`,
}

function contextOf(name: string): string {
  return `smart host ${name}`
}
