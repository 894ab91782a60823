import { type ApiKey, defined, type KeyChange, type RestrictionsChange } from '@postrider/core'
import {
  type Answer,
  type Call,
  type Command,
  requiredId,
  textOption,
  textsOption,
  timeOption,
  UsageError,
  wholeOption,
} from '../../command.ts'
import { table } from '../../table.ts'
import { requireAccount } from '../account-option.ts'
import { coreCommand } from '../core-command.ts'
import { createOperatorKey, listOperatorKeys } from './operator-key.ts'

const SETTINGS_USAGE =
  `[--name NAME] [--ip NETWORK]... [--scope SCOPE]... [--template ID]... [--sender-domain NAME]... [--recipient-domain NAME]... ` +
  '[--recipients-per-hour N] [--calls-per-minute N] [--class NAME] [--keep-content off] [--until TIME]'
const SETTINGS = {
  name: 'Name of the key, for people',
  ip: 'Network from which the key may be used',
  scope: 'Permission of the key, for example send (default all)',
  template: 'Number of a template; the key may send only these',
  'sender-domain': 'Domain that the key may send from',
  'recipient-domain': 'Domain that the key may send to',
  'recipients-per-hour': 'Maximum number of recipients per hour',
  'calls-per-minute': 'Maximum number of calls per minute',
  class: 'Class of all mail sent with the key: urgent, normal or bulk',
  'keep-content': 'off: remove the content of its mail after the last outcome',
  until: 'ISO 8601 time at which the key expires',
}

export const keyCommands: readonly Command[] = [
  {
    name: 'key create',
    usage: `--account ID ${SETTINGS_USAGE} | --operator [--name NAME] [--ip NETWORK]... [--until TIME]`,
    summary: 'Create an API key, or an operator key (shown once)',
    detail: 'An operator key is for /operator/v1',
    parameters: { ...SETTINGS, operator: 'Create an operator key' },
    examples: ['key create --account 12 --name shop --scope send', 'key create --operator --name grafana'],
    run: (call) => {
      if (call.options.operator === true) return createOperatorKey(call)
      const newKey = { accountId: requiredId(call, 'account'), ...changeOf(call) }
      return call.withCore(async (core) => {
        const { key, secret } = await core.auth.createKey(newKey)
        return { data: { keyId: key.id, apiKey: secret }, text: `key ${key.id}\nAPI key ${secret} (shown once)` }
      })
    },
  },
  {
    name: 'key list',
    usage: '--account ID | --operator',
    summary: "List an account's API keys, or the operator keys",
    parameters: { operator: 'List the operator keys' },
    run: (call) => {
      if (call.options.operator === true) return listOperatorKeys(call)
      const account = requiredId(call, 'account')
      return call.withCore(async (core) => {
        await requireAccount(core, account)
        const keys = await core.auth.listKeys(account)
        const rows = keys.map((key) => [
          key.id,
          `${key.prefix}…`,
          key.name,
          key.scopes.join(' '),
          key.networks.join(' ') || 'anywhere',
          restrictionsText(key),
          key.lastUsedAt ?? 'never',
          stateText(key),
        ])
        const heading = ['id', 'key', 'name', 'scopes', 'networks', 'restrictions', 'last used', 'state']
        return { data: keys, text: table(heading, rows) }
      })
    },
  },
  coreCommand({
    name: 'key update',
    target: 'key',
    usage: `ID ${SETTINGS_USAGE} [--lift RESTRICTION]...`,
    summary: 'Update a key',
    detail: 'Omitted settings keep their values',
    parameters: {
      ...SETTINGS,
      lift: 'Restriction to remove: ip, template, sender-domain, recipient-domain, recipients-per-hour, calls-per-minute, class, keep-content or until',
    },
    examples: ['key update 5 --lift ip'],
    prepare: ({ ID: id, lift }, call) => {
      const change = changeOf(call, lift)
      if (Object.keys(change).length === 0) throw new UsageError('no changes given')
      return async (core) => keyAnswer(await core.auth.updateKey(id, change), 'is changed')
    },
  }),
  coreCommand({
    name: 'key rotate',
    destroys: ({ options }) => Number(options['overlap-hours']) === 0,
    usage: 'ID [--overlap-hours N]',
    summary: 'Create a successor of a key with the same permissions',
    detail: 'The old key stays valid for some hours',
    parameters: {
      'overlap-hours': 'Hours for which the old key stays valid (default 24, maximum 720; 0 revokes it immediately)',
    },
    examples: ['key rotate 5 --overlap-hours 48'],
    target: 'key',
    look: ({ auth }, { ID: id }) => auth.showKey(id),
    run: async (core, { ID: id, 'overlap-hours': hours }) => {
      const { key, secret, replaced } = await core.auth.rotateKey(id, hours)
      return {
        data: { keyId: key.id, apiKey: secret, replaced },
        text: `key ${key.id}\nAPI key ${secret} (shown once)\nkey ${id} ${stateText(replaced)}`,
      }
    },
  }),
  coreCommand({
    name: 'key revoke',
    destroys: true,
    usage: 'ID',
    summary: 'Revoke an API key or an operator key',
    detail: 'Takes effect within 5 seconds',
    target: 'key',
    look: async ({ auth }, { ID: id }) =>
      (await auth.listOperatorKeys()).some((one) => one.id === id) || auth.showKey(id),
    run: async (core, { ID: id }) => {
      const operatorKey = await core.auth.revokeOperatorKey(id)
      if (operatorKey) return { data: operatorKey, text: `operator key ${id} is revoked` }
      return keyAnswer(await core.auth.revokeKey(id), 'is revoked')
    },
  }),
]

function keyAnswer(key: ApiKey, what: string): Answer {
  return { data: key, text: `key ${key.id} ${what}` }
}

/** The options of the restrictions, with the restrictions' names in core. */
const NAMES: Readonly<Record<string, keyof RestrictionsChange>> = {
  template: 'templates',
  'sender-domain': 'senderDomains',
  'recipient-domain': 'recipientDomains',
  'recipients-per-hour': 'recipientsPerHour',
  'calls-per-minute': 'callsPerMinute',
  class: 'class',
  'keep-content': 'keepContent',
  until: 'until',
}

/** The change that the options describe; restrictions that are not given are absent. */
function changeOf(call: Call, removed: readonly string[] = []): KeyChange {
  const [name, networks, scopes] = [textOption(call, 'name'), textsOption(call, 'ip'), textsOption(call, 'scope')]
  const restrictions = { ...givenRestrictions(call), ...removedRestrictions(removed) }
  return {
    ...defined({ name }),
    ...(networks.length > 0 ? { networks } : removed.includes('ip') ? { networks: [] } : {}),
    ...(scopes.length > 0 ? { scopes } : {}),
    ...(Object.keys(restrictions).length > 0 ? { restrictions } : {}),
  }
}

function givenRestrictions(call: Call): RestrictionsChange {
  const templates = textsOption(call, 'template').map((text) => (/^\d{1,9}$/.test(text) ? Number(text) : Number.NaN))
  const [senderDomains, recipientDomains] = [textsOption(call, 'sender-domain'), textsOption(call, 'recipient-domain')]
  const recipientsPerHour = wholeOption(call, 'recipients-per-hour')
  const callsPerMinute = wholeOption(call, 'calls-per-minute')
  const of = textOption(call, 'class')
  const keeps = textOption(call, 'keep-content')
  if (keeps !== undefined && keeps !== 'off') throw new UsageError(`--keep-content must be off (got "${keeps}")`)
  return {
    ...(templates.length > 0 ? { templates } : {}),
    ...(senderDomains.length > 0 ? { senderDomains } : {}),
    ...(recipientDomains.length > 0 ? { recipientDomains } : {}),
    ...defined({ recipientsPerHour, callsPerMinute, until: timeOption(call, 'until') }),
    ...(keeps === undefined ? {} : { keepContent: false as const }),
    ...(of === undefined ? {} : { class: of as NonNullable<RestrictionsChange['class']> }),
  }
}

function removedRestrictions(removed: readonly string[]): RestrictionsChange {
  const entries = removed
    .filter((option) => option !== 'ip')
    .map((option) => {
      const name = NAMES[option]
      if (!name) throw new UsageError(`--lift must be one of ip, ${Object.keys(NAMES).join(', ')} (got "${option}")`)
      return [name, null]
    })
  return Object.fromEntries(entries)
}

function restrictionsText({ restrictions }: ApiKey): string {
  const texts = Object.entries(NAMES).flatMap(([option, name]) => {
    const value = restrictions[name]
    if (value === null || value === undefined || name === 'until') return []
    return `${option} ${Array.isArray(value) ? value.join(',') : value === false ? 'off' : value}`
  })
  return texts.join('; ') || 'none'
}

function stateText({ revokedAt, expired, replacedBy, restrictions: { until } }: ApiKey): string {
  const after = replacedBy === null ? '' : `, replaced by ${replacedBy}`
  if (revokedAt) return `revoked ${revokedAt.toISOString()}${after}`
  if (expired) return `expired ${until?.toISOString()}${after}`
  return `active${until ? ` until ${until.toISOString()}` : ''}${after}`
}
