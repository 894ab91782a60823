import { OPERATOR } from '@postrider/core'
import { type Command, UsageError } from '../../command.ts'
import { tableOr } from '../../table.ts'
import { requireAccount } from '../account-option.ts'
import { coreCommand } from '../core-command.ts'

const KIND = 'block: could not be delivered to for reasons other than the address; invalid: not a valid address'

/** Addresses that mail could not be delivered to, and that are not suppressed. */
export const failedAddressCommands: readonly Command[] = [
  coreCommand({
    name: 'failed-address list',
    usage:
      '--account ID --kind block|invalid [--email ADDRESS] [--since TIME] [--until TIME] [--limit N] [--after ROWS]',
    summary: 'List the addresses of an account that mail was blocked for, or that are invalid',
    parameters: {
      kind: KIND,
      email: 'Only this address',
      after: 'Number of addresses after which the page begins',
    },
    run: async ({ failures }, { account, email, since: from, until: to, after: offset, ...filter }) => {
      const emails = email === undefined ? undefined : [email.toLowerCase()]
      const found = await failures.browse(account, { ...filter, from, to, emails, offset })
      const rows = found.map((one) => [one.email, one.since, one.code, one.status, one.reply])
      const text = tableOr('no addresses', ['address', 'since', 'code', 'status', 'reply'], rows)
      return { data: found, text }
    },
  }),
  coreCommand({
    name: 'failed-address remove',
    destroys: ({ options }) => options.all === true,
    usage: '--account ID --kind block|invalid (--email ADDRESS | --all)',
    summary: 'Remove an address or all from such a list, until they fail again',
    parameters: { kind: KIND, email: 'Only this address', all: 'All addresses of the list' },
    look: (core, { account }) => requireAccount(core, account),
    prepare: ({ account: accountId, kind, email, all }) => {
      if ((email === undefined) === !all) throw new UsageError('either --email or --all is needed')
      return async ({ failures }) => {
        const emails = email === undefined ? undefined : [email.toLowerCase()]
        const removed = await failures.clear({ accountId, kind, emails, by: OPERATOR })
        return { data: { removed }, text: `${removed} ${removed === 1 ? 'address' : 'addresses'} removed` }
      }
    },
  }),
]
