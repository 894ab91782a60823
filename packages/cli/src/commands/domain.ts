import type { DomainWithRecords } from '@postrider/core'
import { type Answer, type Command, requiredId, requiredWord, table, textOption } from '../command.ts'

export const domainCommands: readonly Command[] = [
  {
    name: 'domain add',
    usage: '--account ID DOMAIN [--active]',
    summary: 'add a sending domain with a DKIM key; --active: it may send at once',
    options: { account: { type: 'string' }, active: { type: 'boolean' } },
    run: (call) =>
      call.withCore(async (core) => {
        const name = requiredWord(call, 'the domain')
        const accountId = requiredId({ ...call, words: [] }, 'account')
        return shown(await core.domains.add({ accountId, name, state: call.options.active ? 'active' : 'pending' }))
      }),
  },
  {
    name: 'domain list',
    usage: '[--account ID]',
    summary: 'list sending domains',
    options: { account: { type: 'string' } },
    run: (call) =>
      call.withCore(async (core) => {
        const account = textOption(call, 'account')
        const domains = await core.domains.list(account === undefined ? undefined : requiredId(call, 'account'))
        const rows = domains.map(({ name, accountId, state }) => [name, accountId, state])
        return { data: domains, text: table(['domain', 'account', 'state'], rows) }
      }),
  },
  {
    name: 'domain activate',
    usage: 'DOMAIN',
    summary: 'let a domain send',
    options: {},
    run: (call) => call.withCore(async (core) => shown(await core.domains.activate(requiredWord(call, 'the domain')))),
  },
  {
    name: 'domain dns',
    usage: 'DOMAIN',
    summary: 'show the DNS records to set for a domain',
    options: {},
    run: (call) => call.withCore(async (core) => shown(await core.domains.show(requiredWord(call, 'the domain')))),
  },
]

function shown(domain: DomainWithRecords): Answer {
  const rows = domain.dns.map(({ purpose, type, host, value }) => [purpose, type, host, value])
  return {
    data: domain,
    text: `${domain.name} is ${domain.state}\n\n${table(['purpose', 'type', 'host', 'value'], rows)}`,
  }
}
