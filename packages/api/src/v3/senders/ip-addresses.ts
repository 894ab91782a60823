import type { Egress, Source } from '@postrider/core'
import Type from 'typebox'
import { type Call, type Operation, operation } from '../operation.ts'
import { sendPageLinks } from '../page-links.ts'
import { notFound, refuses } from '../refusal.ts'

const ALL = '/ips'
const POOLS = `${ALL}/pools`
const common = { scope: 'account', section: '7.1', right: 'ips.read', status: 200, method: 'GET' } as const
const rejected = { scope: 'account', section: '7.1', status: 400, method: 'POST', anyBody: true } as const
const OPERATORS = { none: "sources and pools are the operator's: 'source add', 'pool add'" }
const WHOSE = 'Source addresses and pools are set up by the operator of this service.'

/** The sources and the pools that a message may name. They are the operator's: an account sees and uses them, and changes nothing. */
export const IP_ADDRESSES: readonly Operation[] = [
  operation({
    name: 'listIps',
    summary: 'List the source addresses of the pools that messages may name',
    cli: 'source list',
    ...common,
    path: ALL,
    query: Type.Object({
      ip: Type.Optional(Type.String()),
      limit: Type.Optional(Type.Integer({ minimum: 1 })),
      offset: Type.Optional(Type.Integer({ minimum: 0 })),
    }),
    act: async ({ query: { ip, limit, offset = 0 } }, call) => {
      const all = (await read(call)).map(({ pools, source }) => shown(source, pools))
      const found = ip === undefined ? all : all.filter((one) => one.ip === ip)
      if (limit !== undefined) sendPageLinks(call, { limit, offset, total: found.length })
      return found.slice(offset, limit === undefined ? undefined : offset + limit)
    },
  }),
  operation({
    name: 'listAssignedIps',
    summary: 'The same with fewer fields',
    cli: 'source list',
    ...common,
    right: 'ips.assigned.read',
    path: `${ALL}/assigned`,
    act: async (_input, call) =>
      (await read(call)).map(({ pools, source }) => {
        const { ip, warmup, start_date } = shown(source, pools)
        return { ip, pools, warmup, start_date }
      }),
  }),
  operation({
    name: 'addIps',
    summary: 'Reject further source addresses',
    cli: OPERATORS,
    ...rejected,
    right: 'ips.create',
    path: ALL,
    act: refuses(400, WHOSE),
  }),
  operation({
    name: 'listIpPools',
    summary: 'List the pools that messages may name',
    cli: 'source list',
    ...common,
    right: 'ips.pools.read',
    path: POOLS,
    act: async (_input, { core }) => open(await core.sources.read()).map(({ name }) => ({ name })),
  }),
  operation({
    name: 'addIpPool',
    summary: 'Reject a new pool',
    cli: OPERATORS,
    ...rejected,
    right: 'ips.pools.create',
    path: POOLS,
    act: refuses(400, WHOSE),
  }),
  operation({
    name: 'viewIpPool',
    summary: 'Show a pool that messages may name, with its addresses',
    cli: 'source list',
    ...common,
    right: 'ips.pools.read',
    path: `${POOLS}/:pool_name`,
    params: Type.Object({ pool_name: Type.String({ maxLength: 64 }) }),
    act: async ({ params: { pool_name: name } }, call) => {
      const { core } = call
      if (!open(await core.sources.read()).some((pool) => pool.name === name)) throw notFound()
      const ips = (await read(call)).filter(({ pools }) => pools.includes(name))
      return { pool_name: name, ips: ips.map(({ source }) => source.address) }
    },
  }),
  operation({
    name: 'viewIp',
    summary: 'Show a source address',
    cli: 'source list',
    ...common,
    path: `${ALL}/:ip_address`,
    params: Type.Object({ ip_address: Type.String({ maxLength: 45 }) }),
    act: async ({ params: { ip_address: address } }, call) => {
      const found = (await read(call)).find(({ source }) => source.address === address || source.address6 === address)
      if (!found) throw notFound()
      return shown({ ...found.source, address }, found.pools)
    },
  }),
]

interface Shown {
  readonly source: Source
  readonly pools: readonly string[]
}

/** At most a thousand, in one statement. */
async function read({ core }: Call): Promise<Shown[]> {
  const egress = await core.sources.read()
  const pools = new Map(open(egress).map(({ id, name }) => [id, name]))
  return egress.sources.flatMap((source) => {
    const name = pools.get(source.poolId)
    return name === undefined ? [] : [{ source, pools: [name] }]
  })
}

/** Without those that only rules choose. */
function open({ pools }: Egress) {
  return pools.filter(({ isReserved }) => !isReserved)
}

function shown({ address, helo, warmUpPlan }: Source, pools: readonly string[]) {
  return {
    ip: address,
    subusers: [],
    rdns: helo,
    pools,
    warmup: warmUpPlan !== null,
    start_date: null,
    whitelabeled: false,
    assigned_at: null,
  }
}
