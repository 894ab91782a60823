import { type CountedGroup, defined } from '@postrider/core'
import {
  type Call,
  type Command,
  requiredId,
  requiredTarget,
  requiredText,
  textOption,
  UsageError,
} from '../../command.ts'
import { table } from '../../table.ts'

const GROUP = {
  name: 'Name that recipients see, at most 30 characters',
  description: 'Text that recipients see, at most 100 characters',
  default: 'Whether it is preselected for messages without a group',
}

/** Kinds of mail from which a recipient can unsubscribe separately. */
export const groupCommands: readonly Command[] = [
  {
    name: 'group create',
    usage: '--account ID --name NAME [--description TEXT] [--default on|off]',
    summary: 'Create an unsubscribe group',
    parameters: GROUP,
    examples: ['group create --account 12 --name Newsletter --description "News of the harbor"'],
    run: (call) => {
      const [accountId, name] = [requiredId(call, 'account'), requiredText(call, 'name')]
      const group = {
        name,
        description: textOption(call, 'description') ?? '',
        isDefault: defaultOption(call) ?? false,
      }
      return call.withCore(async ({ groups }) => {
        const made = await groups.create(accountId, group)
        return { data: made, text: `group ${made.id}` }
      })
    },
  },
  {
    name: 'group list',
    usage: '--account ID',
    summary: 'List the unsubscribe groups of an account with their number of unsubscribes',
    run: (call) => {
      const accountId = requiredId(call, 'account')
      return call.withCore(async ({ groups }) => {
        const found = await groups.list(accountId)
        return { data: found, text: found.length > 0 ? tableOf(found) : 'no groups' }
      })
    },
  },
  {
    name: 'group show',
    usage: 'ID --account ID',
    summary: 'Show an unsubscribe group',
    run: (call) => {
      const { accountId, id } = named(call)
      return call.withCore(async ({ groups }) => {
        const group = await groups.show(accountId, id)
        return { data: group, text: tableOf([group]) }
      })
    },
  },
  {
    name: 'group update',
    usage: 'ID --account ID [--name NAME] [--description TEXT] [--default on|off]',
    summary: 'Change an unsubscribe group',
    parameters: GROUP,
    run: (call) => {
      const [name, description] = [textOption(call, 'name'), textOption(call, 'description')]
      const change = defined({ name, description, isDefault: defaultOption(call) })
      if (Object.keys(change).length === 0) throw new UsageError('no changes given')
      const act = named(call)
      return call.withCore(async ({ groups }) => {
        return { data: await groups.change(act, change), text: `group ${act.id} is changed` }
      })
    },
  },
  {
    name: 'group delete',
    usage: 'ID --account ID',
    summary: 'Delete an unsubscribe group; its unsubscribes are kept',
    run: (call) => {
      const act = named(call)
      return call.withCore(async ({ groups }) => {
        await groups.remove(act)
        return { data: { deleted: act.id }, text: `group ${act.id} deleted` }
      })
    },
  },
]

function named(call: Call): { accountId: number; id: number } {
  return { id: requiredTarget(call, 'group'), accountId: requiredId(call, 'account') }
}

function tableOf(groups: readonly CountedGroup[]): string {
  const rows = groups.map((one) => [one.id, one.name, one.unsubscribes, one.isDefault ? 'yes' : '', one.description])
  return table(['id', 'name', 'unsubscribes', 'default', 'description'], rows)
}

function defaultOption(call: Call): boolean | undefined {
  const value = textOption(call, 'default')
  if (value !== undefined && value !== 'on' && value !== 'off') {
    throw new UsageError(`--default must be on or off (got "${value}")`)
  }
  return value === undefined ? undefined : value === 'on'
}
