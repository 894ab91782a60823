import { type FailureKind, OPERATOR } from '@postrider/core'
import {
  type Call,
  type Command,
  limitOption,
  requiredId,
  textOption,
  timeOption,
  UsageError,
  wholeOption,
} from '../../command.ts'
import { table } from '../../table.ts'

const KINDS: readonly FailureKind[] = ['block', 'invalid']
const KIND = 'block: could not be delivered to for reasons other than the address; invalid: not a valid address'

/** Addresses that mail could not be delivered to, and that are not suppressed. */
export const failedAddressCommands: readonly Command[] = [
  {
    name: 'failed-address list',
    usage: '--account ID --kind block|invalid [--email ADDRESS] [--since TIME] [--until TIME] [--limit N] [--offset N]',
    summary: 'List the addresses of an account that mail was blocked for, or that are invalid',
    parameters: {
      kind: KIND,
      email: 'Only this address',
      offset: 'Number of addresses to leave out, for the next page',
    },
    run: (call) => {
      const [accountId, kind, email] = [requiredId(call, 'account'), requiredKind(call), textOption(call, 'email')]
      const filter = {
        kind,
        from: timeOption(call, 'since'),
        to: timeOption(call, 'until'),
        emails: email === undefined ? undefined : [email.toLowerCase()],
        limit: limitOption(call),
        offset: wholeOption(call, 'offset') ?? 0,
      }
      return call.withCore(async ({ failures }) => {
        const found = await failures.browse(accountId, filter)
        const rows = found.map((one) => [one.email, one.since, one.code, one.status, one.reply])
        const text = rows.length > 0 ? table(['address', 'since', 'code', 'status', 'reply'], rows) : 'no addresses'
        return { data: found, text }
      })
    },
  },
  {
    name: 'failed-address remove',
    usage: '--account ID --kind block|invalid (--email ADDRESS | --all)',
    summary: 'Remove an address or all from such a list, until they fail again',
    parameters: { kind: KIND, email: 'Only this address', all: 'All addresses of the list' },
    run: (call) => {
      const [accountId, kind, email] = [requiredId(call, 'account'), requiredKind(call), textOption(call, 'email')]
      if ((email === undefined) === (call.options.all !== true))
        throw new UsageError('either --email or --all is needed')
      const emails = email === undefined ? undefined : [email.toLowerCase()]
      return call.withCore(async ({ failures }) => {
        const removed = await failures.clear({ accountId, kind, emails, by: OPERATOR })
        return { data: { removed }, text: `${removed} ${removed === 1 ? 'address' : 'addresses'} removed` }
      })
    },
  },
]

function requiredKind(call: Call): FailureKind {
  const value = textOption(call, 'kind')
  const kind = KINDS.find((one) => one === value)
  if (kind === undefined)
    throw new UsageError(`--kind must be block or invalid${value === undefined ? '' : ` (got "${value}")`}`)
  return kind
}
