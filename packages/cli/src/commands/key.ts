import type { ApiKey, KeyChange, RestrictionsChange } from '@postrider/core'
import {
  type Answer,
  type Call,
  type Command,
  isoTime,
  requiredId,
  requiredTarget,
  table,
  textOption,
  textsOption,
  UsageError,
  wholeOption,
} from '../command.ts'

const RIGHTS = {
  name: { type: 'string' },
  ip: { type: 'string', multiple: true },
  scope: { type: 'string', multiple: true },
  template: { type: 'string', multiple: true },
  'sender-domain': { type: 'string', multiple: true },
  'recipient-domain': { type: 'string', multiple: true },
  'recipients-per-hour': { type: 'string' },
  'calls-per-minute': { type: 'string' },
  until: { type: 'string' },
} as const satisfies Command['options']

const RIGHTS_USAGE =
  '[--name NAME] [--ip NETWORK]... [--scope SCOPE]... [--template ID]... [--sender-domain NAME]... ' +
  '[--recipient-domain NAME]... [--recipients-per-hour N] [--calls-per-minute N] [--until TIME]'

export const keyCommands: readonly Command[] = [
  {
    name: 'key create',
    usage: `--account ID ${RIGHTS_USAGE}`,
    summary: 'make an API key, which is shown only now; the options say what it may not do',
    options: { account: { type: 'string' }, ...RIGHTS },
    run: (call) => {
      const newKey = { accountId: requiredId(call, 'account'), ...changeOf(call) }
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
        const rows = keys.map((key) => [
          ...[key.id, `${key.prefix}…`, key.name, key.scopes.join(' '), key.networks.join(' ') || 'anywhere'],
          ...[restrictionsText(key), key.lastUsedAt ?? 'never', stateText(key)],
        ])
        const heading = ['id', 'key', 'name', 'scopes', 'networks', 'restrictions', 'last used', 'state']
        return { data: keys, text: table(heading, rows) }
      })
    },
  },
  {
    name: 'key update',
    usage: `ID ${RIGHTS_USAGE} [--lift RESTRICTION]...`,
    summary: 'change a key; what is not named stays; --lift takes a restriction away (ip, template, until, ...)',
    words: 1,
    options: { key: { type: 'string' }, ...RIGHTS, lift: { type: 'string', multiple: true } },
    run: (call) => {
      const id = requiredTarget(call, 'key')
      const change = changeOf(call, textsOption(call, 'lift'))
      if (Object.keys(change).length === 0) throw new UsageError('nothing is to be changed')
      return call.withCore(async (core) => keyAnswer(await core.auth.updateKey(id, change), 'is changed'))
    },
  },
  {
    name: 'key rotate',
    usage: 'ID [--overlap-hours N]',
    summary: 'make a new key with the same rights; the old one is good for 24 hours more, or N (at most 720, 0: none)',
    words: 1,
    options: { key: { type: 'string' }, 'overlap-hours': { type: 'string' } },
    run: (call) => {
      const id = requiredTarget(call, 'key')
      const hours = wholeOption(call, 'overlap-hours')
      return call.withCore(async (core) => {
        const { key, secret, replaced } = await core.auth.rotateKey(id, hours)
        return {
          data: { keyId: key.id, apiKey: secret, replaced },
          text: `key ${key.id}\nAPI key ${secret} (shown only now)\nkey ${id} ${stateText(replaced)}`,
        }
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
      return call.withCore(async (core) => keyAnswer(await core.auth.revokeKey(id), 'is revoked'))
    },
  },
]

function keyAnswer(key: ApiKey, what: string): Answer {
  return { data: key, text: `key ${key.id} ${what}` }
}

/** The options of the restrictions, and what they are called inside. */
const NAMES: Readonly<Record<string, keyof RestrictionsChange>> = {
  ...{ template: 'templates', 'sender-domain': 'senderDomains', 'recipient-domain': 'recipientDomains' },
  ...{ 'recipients-per-hour': 'recipientsPerHour', 'calls-per-minute': 'callsPerMinute', until: 'until' },
}

/** What the options change; nothing stands where nothing was said. */
function changeOf(call: Call, lifted: readonly string[] = []): KeyChange {
  const [name, networks, scopes] = [textOption(call, 'name'), textsOption(call, 'ip'), textsOption(call, 'scope')]
  const restrictions = { ...givenRestrictions(call), ...liftedRestrictions(lifted) }
  return {
    ...(name === undefined ? {} : { name }),
    ...(networks.length > 0 ? { networks } : lifted.includes('ip') ? { networks: [] } : {}),
    ...(scopes.length > 0 ? { scopes } : {}),
    ...(Object.keys(restrictions).length > 0 ? { restrictions } : {}),
  }
}

function givenRestrictions(call: Call): RestrictionsChange {
  const templates = textsOption(call, 'template').map((text) => (/^\d{1,9}$/.test(text) ? Number(text) : Number.NaN))
  const [senderDomains, recipientDomains] = [textsOption(call, 'sender-domain'), textsOption(call, 'recipient-domain')]
  const recipientsPerHour = wholeOption(call, 'recipients-per-hour')
  const callsPerMinute = wholeOption(call, 'calls-per-minute')
  const until = textOption(call, 'until')
  return {
    ...(templates.length > 0 ? { templates } : {}),
    ...(senderDomains.length > 0 ? { senderDomains } : {}),
    ...(recipientDomains.length > 0 ? { recipientDomains } : {}),
    ...(recipientsPerHour === undefined ? {} : { recipientsPerHour }),
    ...(callsPerMinute === undefined ? {} : { callsPerMinute }),
    ...(until === undefined ? {} : { until: isoTime(until, '--until') }),
  }
}

function liftedRestrictions(lifted: readonly string[]): RestrictionsChange {
  const entries = lifted
    .filter((option) => option !== 'ip')
    .map((option) => {
      const name = NAMES[option]
      if (!name) throw new UsageError(`--lift takes ip, ${Object.keys(NAMES).join(', ')}, not "${option}"`)
      return [name, null]
    })
  return Object.fromEntries(entries)
}

function restrictionsText({ restrictions }: ApiKey): string {
  const texts = Object.entries(NAMES).flatMap(([option, name]) => {
    const value = restrictions[name]
    if (value === null || value === undefined || name === 'until') return []
    return `${option} ${Array.isArray(value) ? value.join(',') : value}`
  })
  return texts.join('; ') || 'none'
}

function stateText({ revokedAt, expired, replacedBy, restrictions: { until } }: ApiKey): string {
  const after = replacedBy === null ? '' : `, replaced by ${replacedBy}`
  if (revokedAt) return `revoked ${revokedAt.toISOString()}${after}`
  if (expired) return `expired ${until?.toISOString()}${after}`
  return `active${until ? ` until ${until.toISOString()}` : ''}${after}`
}
