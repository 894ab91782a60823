import type { OperatorKey } from '@postrider/core'
import { type Answer, type Call, textOption, textsOption, timeOption, UsageError } from '../../command.ts'
import { table } from '../../table.ts'

/** Options of `key create` that apply to operator keys. */
const FITTING: readonly string[] = ['operator', 'name', 'ip', 'until', 'json', 'help']

/** Runs `key create --operator`. Throws {@link UsageError}. */
export function createOperatorKey(call: Call): Promise<Answer> {
  requireFitting(call)
  const newKey = {
    name: textOption(call, 'name'),
    networks: textsOption(call, 'ip'),
    until: timeOption(call, 'until'),
  }
  return call.withCore(async (core) => {
    const { key, secret } = await core.auth.createOperatorKey(newKey)
    return { data: { keyId: key.id, operatorKey: secret }, text: `key ${key.id}\noperator key ${secret} (shown once)` }
  })
}

/** Runs `key list --operator`. Throws {@link UsageError}. */
export function listOperatorKeys(call: Call): Promise<Answer> {
  requireFitting(call)
  return call.withCore(async (core) => {
    const keys = await core.auth.listOperatorKeys()
    const rows = keys.map((key) => [
      key.id,
      `${key.prefix}…`,
      key.name,
      key.networks.join(' ') || 'OPERATOR_NETWORKS',
      key.lastUsedAt ?? 'never',
      stateText(key),
    ])
    return { data: keys, text: table(['id', 'key', 'name', 'networks', 'last used', 'state'], rows) }
  })
}

function requireFitting({ options }: Call): void {
  const wrong = Object.keys(options).find((name) => options[name] !== undefined && !FITTING.includes(name))
  if (wrong !== undefined) throw new UsageError(`--${wrong} cannot be combined with --operator`)
}

function stateText({ revokedAt, expired, until }: OperatorKey): string {
  if (revokedAt) return `revoked ${revokedAt.toISOString()}`
  if (until === null) return 'active'
  return expired ? `expired ${until.toISOString()}` : `active until ${until.toISOString()}`
}
