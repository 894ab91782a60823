import { type Core, type DomainWithRecords, ServiceError } from '@postrider/core'
import {
  type Answer,
  type Call,
  type Command,
  CommandError,
  requiredId,
  requiredWord,
  table,
  textOption,
} from '../command.ts'

export const domainCommands: readonly Command[] = [
  {
    name: 'domain add',
    usage: '--account ID DOMAIN [--active]',
    summary: 'add a sending domain with a DKIM key; --active: it may send at once',
    words: 1,
    options: { account: { type: 'string' }, active: { type: 'boolean' } },
    run: (call) => {
      const accountId = requiredId(call, 'account')
      const state = call.options.active ? 'active' : 'pending'
      return withDomain(
        call,
        (core, name) => core.domains.add({ accountId, name, state }),
        (name) => `"${name}" is not a domain name like example.com`,
      )
    },
  },
  {
    name: 'domain list',
    usage: '[--account ID]',
    summary: 'list sending domains',
    options: { account: { type: 'string' } },
    run: (call) => {
      const account = accountOption(call)
      return call.withCore(async (core) => {
        const domains = await core.domains.list(account)
        const rows = domains.map(({ name, accountId, state }) => [name, accountId, state])
        return { data: domains, text: table(['domain', 'account', 'state'], rows) }
      })
    },
  },
  {
    name: 'domain activate',
    usage: 'DOMAIN [--account ID]',
    summary: 'let a domain send; --account: where several accounts claim it',
    words: 1,
    options: { account: { type: 'string' } },
    run: (call) => {
      const accountId = accountOption(call)
      return withDomain(call, (core, name) => core.domains.activate(name, { accountId }), unknown)
    },
  },
  {
    name: 'domain dns',
    usage: 'DOMAIN [--account ID]',
    summary: 'show the DNS records to set for a domain; --account: where several accounts claim it',
    words: 1,
    options: { account: { type: 'string' } },
    run: (call) => {
      const accountId = accountOption(call)
      return withDomain(call, (core, name) => core.domains.show(name, accountId), unknown)
    },
  },
]

function accountOption(call: Call): number | undefined {
  return textOption(call, 'account') === undefined ? undefined : requiredId(call, 'account')
}

const unknown = (name: string): string => `there is no domain "${name}": "domain list" shows all`

/** `problem` says what the refusal of this domain's name means here. */
function withDomain(
  call: Call,
  act: (core: Core, name: string) => Promise<DomainWithRecords>,
  problem: (name: string) => string,
): Promise<Answer> {
  const name = requiredWord(call, 'the domain')
  return call.withCore(async (core) => {
    try {
      return shown(await act(core, name))
    } catch (error) {
      if (error instanceof ServiceError && error.errorName === 'domainInvalid') throw new CommandError(problem(name))
      if (error instanceof ServiceError && error.errorName === 'domainTaken') {
        throw new CommandError(`the domain "${name}" is added already: "domain list" shows by which account`)
      }
      throw error
    }
  })
}

function shown(domain: DomainWithRecords): Answer {
  const rows = domain.dns.map(({ purpose, type, host, value }) => [purpose, type, host, value])
  return {
    data: domain,
    text: `${domain.name} is ${domain.state}\n\n${table(['purpose', 'type', 'host', 'value'], rows)}`,
  }
}
