import { type Operation, operation } from '../operation.ts'
import { refuses } from '../refusal.ts'

const ALL = '/access_settings/whitelist'
const common = { scope: 'keys', section: '7.1' } as const
const OF_KEYS = { none: "networks are those of a key: 'key update'" }
const WHOSE = 'Networks are set for each key: POST /v2/keys, with networks.'

/** The networks that the account may be used from belong to its keys here: the list is that of the calling key. */
export const ACCESS_SETTINGS: readonly Operation[] = [
  operation({
    name: 'listAllowedIps',
    summary: 'List the networks from which the calling key can be used; none: any address',
    cli: 'key list',
    ...common,
    method: 'GET',
    path: ALL,
    right: 'access_settings.whitelist.read',
    status: 200,
    act: async (_input, { core, principal }) => {
      const key = await core.auth.showKey(principal.keyId)
      const seconds = Math.floor(key.createdAt.getTime() / 1000)
      const result = key.networks.map((ip, at) => ({
        id: at + 1,
        ip,
        created_at: seconds,
        updated_at: seconds,
      }))
      return { result }
    },
  }),
  operation({
    name: 'addAllowedIps',
    summary: 'Reject further networks for the account',
    cli: OF_KEYS,
    ...common,
    method: 'POST',
    path: ALL,
    right: 'access_settings.whitelist.create',
    status: 400,
    anyBody: true,
    act: refuses(400, WHOSE),
  }),
  operation({
    name: 'removeAllowedIps',
    summary: 'Reject the removal of networks from the account',
    cli: OF_KEYS,
    ...common,
    method: 'DELETE',
    path: ALL,
    right: 'access_settings.whitelist.delete',
    status: 400,
    anyBody: true,
    act: refuses(400, WHOSE),
  }),
  operation({
    name: 'listAccessAttempts',
    summary: 'List attempts to use the account, which are not kept',
    cli: { none: 'attempts to use an account are not kept' },
    ...common,
    method: 'GET',
    path: '/access_settings/activity',
    right: 'access_settings.activity.read',
    status: 200,
    act: async () => ({ result: [] }),
  }),
]
