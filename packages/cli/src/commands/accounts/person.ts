import type { Command } from '../../command.ts'
import { table, tableOr } from '../../table.ts'
import { requireAccount } from '../account-option.ts'
import { coreCommand } from '../core-command.ts'

/** Erasure and export of the data stored about a recipient (GDPR). */
export const personCommands: readonly Command[] = [
  coreCommand({
    name: 'person forget',
    destroys: true,
    usage: 'ADDRESS --account ID',
    summary: 'Erase a recipient from the stored data of an account; their opt-outs stay in effect',
    detail: 'A delivery worker performs the request; "person status" shows its progress',
    parameters: { ADDRESS: 'Email address of the recipient' },
    examples: ['person forget lena@harbor.example --account 12'],
    look: (core, { account }) => requireAccount(core, account),
    run: async ({ privacy }, { ADDRESS: address, account: accountId }) => {
      const request = await privacy.forget(accountId, [address])
      return {
        data: request,
        text: `request ${request.id} is ${request.state}; "person status ${request.id} --account ${accountId}" shows its progress`,
      }
    },
  }),
  coreCommand({
    name: 'person status',
    usage: 'REQUEST --account ID',
    summary: 'Show the progress of an erasure request, and the numbers of rows changed',
    parameters: { REQUEST: 'Id of the request: gd_ and 32 hex digits' },
    run: async ({ privacy }, { REQUEST: id, account: accountId }) => {
      const request = await privacy.request(accountId, id)
      const rows = Object.entries({ ...request.receipt, 'messages that wait': request.waiting })
      return { data: request, text: `request ${id} is ${request.state}\n\n${table(['rows', 'changed'], rows)}` }
    },
  }),
  coreCommand({
    name: 'person list',
    usage: '--account ID [--limit N]',
    summary: 'List the erasure requests of an account, newest first',
    limit: { usual: 50, most: 1000 },
    run: async (core, { account, limit }) => {
      await requireAccount(core, account)
      const { requests } = await core.privacy.requests(account, { limit, offset: 0 })
      const rows = requests.map((one) => [one.id, one.state, one.emails, one.requestedAt, one.completedAt, one.waiting])
      return {
        data: requests,
        text: tableOr(
          'no erasure requests',
          ['request', 'state', 'addresses', 'requested', 'completed', 'waiting'],
          rows,
        ),
      }
    },
  }),
  coreCommand({
    name: 'person export',
    usage: '--account ID --email ADDRESS [--limit N] [--after CURSOR]',
    summary: 'Export the data stored about a recipient, page by page; --json has all of it',
    parameters: {
      email: 'Email address of the recipient',
      limit: 'Deliveries per page (default 50, maximum 100)',
      after: 'Cursor of the previous page',
    },
    examples: ['person export --account 12 --email lena@harbor.example --json'],
    limit: { usual: 50, most: 100 },
    run: async ({ privacy }, { account, after, ...query }) => {
      const page = await privacy.export(account, { ...query, next: after })
      const { deliveries, suppressions, next } = page
      const mail = deliveries.map((one) => [one.messageId, one.state, one.acceptedAt, one.from, one.subject])
      const entries = suppressions.map(({ reason, group, since }) => [reason, group || '', since])
      const sections = [
        tableOr('no deliveries', ['message', 'state', 'accepted', 'from', 'subject'], mail),
        tableOr('not suppressed', ['suppressed', 'group', 'since'], entries),
        ...(next === undefined ? [] : [`there are more; continue with --after ${next}`]),
      ]
      return { data: page, text: sections.join('\n\n') }
    },
  }),
]
