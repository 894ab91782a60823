import { type Command, requiredId, requiredTarget, table, textOption, textsOption } from '../command.ts'

export const keyCommands: readonly Command[] = [
  {
    name: 'key create',
    usage: '--account ID [--name NAME] [--ip NETWORK]... [--scope SCOPE]...',
    summary: 'make an API key, which is shown only now; --ip limits where it may be used from',
    options: {
      account: { type: 'string' },
      name: { type: 'string' },
      ip: { type: 'string', multiple: true },
      scope: { type: 'string', multiple: true },
    },
    run: (call) => {
      const scopes = textsOption(call, 'scope')
      const newKey = {
        accountId: requiredId(call, 'account'),
        name: textOption(call, 'name') ?? '',
        networks: textsOption(call, 'ip'),
        ...(scopes.length > 0 ? { scopes } : {}),
      }
      return call.withCore(async (core) => {
        const { key, secret } = await core.auth.createKey(newKey)
        return { data: { keyId: key.id, apiKey: secret }, text: `key ${key.id}\nAPI key ${secret} (shown only now)` }
      })
    },
  },
  {
    name: 'key list',
    usage: '--account ID',
    summary: "list an account's API keys",
    options: { account: { type: 'string' } },
    run: (call) => {
      const account = requiredId(call, 'account')
      return call.withCore(async (core) => {
        const keys = await core.auth.listKeys(account)
        const rows = keys.map(({ id, prefix, name, scopes, networks, revokedAt }) => [
          ...[id, `${prefix}…`, name, scopes.join(' '), networks.join(' ') || 'anywhere'],
          revokedAt ? `revoked ${revokedAt.toISOString()}` : 'active',
        ])
        return { data: keys, text: table(['id', 'key', 'name', 'scopes', 'networks', 'state'], rows) }
      })
    },
  },
  {
    name: 'key revoke',
    usage: 'ID',
    summary: 'refuse a key from now on; in effect everywhere within 5 s',
    words: 1,
    options: { key: { type: 'string' } },
    run: (call) => {
      const id = requiredTarget(call, 'key')
      return call.withCore(async (core) => {
        const key = await core.auth.revokeKey(id)
        return { data: key, text: `key ${key.id} is revoked` }
      })
    },
  },
]
