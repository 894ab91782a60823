import { type CountedGroup, defined } from '@postrider/core'
import { type Command, UsageError } from '../../command.ts'
import { table } from '../../table.ts'
import { coreCommand } from '../core-command.ts'

const GROUP = {
  name: 'Name that recipients see, at most 30 characters',
  description: 'Text that recipients see, at most 100 characters',
  default: 'Whether it is preselected for messages without a group',
}

/** Kinds of mail from which a recipient can unsubscribe separately. */
export const groupCommands: readonly Command[] = [
  coreCommand({
    name: 'group create',
    usage: '--account ID --name NAME [--description TEXT] [--default on|off]',
    summary: 'Create an unsubscribe group',
    parameters: GROUP,
    examples: ['group create --account 12 --name Newsletter --description "News of the harbor"'],
    run: async ({ groups }, { account, name, description = '', default: isDefault = false }) => {
      const made = await groups.create(account, { name, description, isDefault })
      return { data: made, text: `group ${made.id}` }
    },
  }),
  coreCommand({
    name: 'group list',
    usage: '--account ID',
    summary: 'List the unsubscribe groups of an account with their number of unsubscribes',
    run: async ({ groups }, { account: accountId }) => {
      const found = await groups.list(accountId)
      return { data: found, text: found.length > 0 ? tableOf(found) : 'no groups' }
    },
  }),
  coreCommand({
    name: 'group show',
    usage: 'ID --account ID',
    summary: 'Show an unsubscribe group',
    run: async ({ groups }, { ID: id, account: accountId }) => {
      const group = await groups.show(accountId, id)
      return { data: group, text: tableOf([group]) }
    },
  }),
  coreCommand({
    name: 'group update',
    usage: 'ID --account ID [--name NAME] [--description TEXT] [--default on|off]',
    summary: 'Change an unsubscribe group',
    parameters: GROUP,
    prepare: ({ ID: id, account: accountId, name, description, default: isDefault }) => {
      const change = defined({ name, description, isDefault })
      if (Object.keys(change).length === 0) throw new UsageError('no changes given')
      return async ({ groups }) => ({
        data: await groups.change({ id, accountId }, change),
        text: `group ${id} is changed`,
      })
    },
  }),
  coreCommand({
    name: 'group delete',
    destroys: true,
    usage: 'ID --account ID',
    summary: 'Delete an unsubscribe group; its unsubscribes are kept',
    look: ({ groups }, { ID: id, account }) => groups.show(account, id),
    run: async ({ groups }, { ID: id, account: accountId }) => {
      const act = { id, accountId }
      await groups.remove(act)
      return { data: { deleted: act.id }, text: `group ${act.id} deleted` }
    },
  }),
]

function tableOf(groups: readonly CountedGroup[]): string {
  const rows = groups.map((one) => [one.id, one.name, one.unsubscribes, one.isDefault ? 'yes' : '', one.description])
  return table(['id', 'name', 'unsubscribes', 'default', 'description'], rows)
}
