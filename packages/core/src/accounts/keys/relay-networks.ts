import { createCache } from '../../platform/cache.ts'
import { type AnySql, databaseErrorCode, type Sql } from '../../platform/database/database.ts'
import { invalidParameter } from '../../platform/errors.ts'
import { NetworkMap, networkContains, parseNetworks } from '../../platform/net/networks.ts'
import { type Actor, ALL_ACCOUNTS, noteChange, OPERATOR } from '../audit/index.ts'
import { KEY_AGE_MS } from './key-lookup.ts'
import { isValid } from './store.ts'

/** A network whose clients send over SMTP without AUTH. */
export interface RelayNetwork {
  readonly network: string
  readonly keyId: number
  readonly requiresTls: boolean
}

export interface ListedRelayNetwork extends RelayNetwork {
  readonly accountId: number
  readonly keyName: string
  /** Whether the key can be used: it is neither revoked nor expired. */
  readonly isValid: boolean
  readonly createdAt: Date
}

/** Changed on the command line only: which addresses are whose, the operator knows. */
export interface RelayNetworks {
  /** Throws parameterInvalid (network, key). Every process has it within 5 s. */
  add(network: RelayNetwork, by?: Actor): Promise<void>
  /** Throws parameterInvalid (network). */
  remove(network: string, by?: Actor): Promise<void>
  list(): Promise<ListedRelayNetwork[]>
  /** Returns the network of a client; undefined if it is in none. Throws if the list has never been read and cannot be. */
  find(address: string): Promise<RelayNetwork | undefined>
  /** Whether a client is in one, as far as the list was read. */
  has(address: string): boolean
}

/** All are read every few seconds while clients connect. */
const MAX_NETWORKS = 1000
/** Shorter ones are those of whole providers, and of a misspelt prefix. */
const MIN_PREFIX = { ipv4: 8, ipv6: 29 } as const
/** IPv4 addresses as sockets of IPv6 show them. */
const MAPPED = '::ffff:0:0/96'
const OVERLAPS = '23P01'
const DUPLICATE = '23505'
const NOT_A_NETWORK = '22P02'
const ALL = 'all'

export function createRelayNetworks(sql: Sql): RelayNetworks {
  const known = createCache<NetworkMap<RelayNetwork>>({
    maxAge: KEY_AGE_MS,
    maxEntries: 1,
    load: async () => new NetworkMap((await select(sql)).map((entry) => [entry.network, entry])),
  })
  return {
    async add({ network: given, keyId, requiresTls }, by = OPERATOR) {
      const network = networkIn(given)
      await sql
        .begin(async (transaction) => {
          const keys =
            await transaction`select from api_keys k where id = ${keyId} and ${isValid(transaction)} for key share`
          if (keys.count === 0) throw invalidParameter('key', 'is not the number of a valid key')
          const rows = await transaction`
          insert into relay_networks (network, api_key_id, requires_tls)
          select ${network}::text::cidr, ${keyId}, ${requiresTls} where (select count(*) from relay_networks) < ${MAX_NETWORKS}`
          if (rows.count === 0) throw invalidParameter('network', `is one too many: there are ${MAX_NETWORKS}`)
          const after = { network, key: keyId, tls: requiresTls }
          await noteChange(transaction, {
            accountId: ALL_ACCOUNTS,
            by,
            action: 'relay-network.add',
            object: 'relay networks',
            after,
          })
        })
        .catch(refusalOf)
      known.forget()
    },
    async remove(given, by = OPERATOR) {
      const network = networkIn(given)
      await sql
        .begin(async (transaction) => {
          const { count } = await transaction`delete from relay_networks where network = ${network}::text::cidr`
          if (count === 0) throw invalidParameter('network', 'is not listed')
          const change = { accountId: ALL_ACCOUNTS, by, action: 'relay-network.remove', object: 'relay networks' }
          await noteChange(transaction, { ...change, before: { network } })
        })
        .catch(refusalOf)
      known.forget()
    },
    list: () => selectListed(sql),
    async find(address) {
      const networks = await Promise.resolve(known.get(ALL)).catch((error: unknown) => {
        const last = known.peek(ALL)
        if (last === undefined) throw error
        return last
      })
      return networks.get(address)
    },
    has: (address) => known.peek(ALL)?.get(address) !== undefined,
  }
}

/** A key was rotated: the clients of its networks go on with its successor. */
export async function moveRelayNetworks(sql: AnySql, from: number, to: number): Promise<void> {
  await sql`update relay_networks set api_key_id = ${to} where api_key_id = ${from}`
}

function refusalOf(error: unknown): never {
  const code = databaseErrorCode(error)
  if (code === OVERLAPS || code === DUPLICATE) throw invalidParameter('network', 'overlaps one that is listed already')
  if (code === NOT_A_NETWORK) throw invalidParameter('network', 'has bits to the right of its prefix')
  throw error
}

/** Throws parameterInvalid. */
function networkIn(given: string): string {
  let parsed: string[]
  try {
    parsed = parseNetworks([given])
  } catch (error) {
    throw invalidParameter('network', (error as Error).message)
  }
  const [network = ''] = parsed
  const [address = '', prefix] = network.split('/')
  const least = address.includes(':') ? MIN_PREFIX.ipv6 : MIN_PREFIX.ipv4
  if (address === '' || (prefix !== undefined && Number(prefix) < least))
    throw invalidParameter('network', `must be an address or a network with a prefix of at least ${least}`)
  // All of them count as IPv4, whose networks they would overlap, and ::/29 would be all of IPv4.
  if (networkContains(MAPPED, network) || networkContains(network, MAPPED))
    throw invalidParameter('network', 'contains IPv4 addresses in the form of IPv6: write them as IPv4')
  return network
}

/** Postgres writes a single address with its whole prefix. */
const shownNetwork = (sql: Sql) =>
  sql`case when masklen(n.network) = (case family(n.network) when 4 then 32 else 128 end) then host(n.network) else n.network::text end`

function select(sql: Sql): Promise<RelayNetwork[]> {
  return sql<RelayNetwork[]>`
    select ${shownNetwork(sql)} as network, api_key_id as "keyId", requires_tls as "requiresTls" from relay_networks n`
}

function selectListed(sql: Sql): Promise<ListedRelayNetwork[]> {
  return sql<ListedRelayNetwork[]>`
    select ${shownNetwork(sql)} as network, n.api_key_id as "keyId", n.requires_tls as "requiresTls", k.account_id as "accountId", k.name as "keyName",
           ${isValid(sql)} as "isValid", n.created_at as "createdAt"
      from relay_networks n join api_keys k on k.id = n.api_key_id order by n.network`
}
