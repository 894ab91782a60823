import type { Command } from '../../command.ts'
import { tableOr } from '../../table.ts'
import { coreCommand } from '../core-command.ts'
import { removeCommand } from '../remove-command.ts'

const HEADING = ['network', 'key', 'account', 'TLS', 'key is']

export const relayNetworkCommands: readonly Command[] = [
  coreCommand({
    name: 'relay-network list',
    usage: '',
    summary: 'List the networks whose clients send over SMTP without a password',
    run: async ({ relayNetworks }) => {
      const all = await relayNetworks.list()
      const rows = all.map(({ network, keyId, keyName, accountId, requiresTls, isValid }) => [
        network,
        keyName === '' ? keyId : `${keyId} (${keyName})`,
        accountId,
        requiresTls ? 'required' : 'optional',
        isValid ? 'valid' : 'revoked or expired',
      ])
      return { data: { relayNetworks: all }, text: tableOr('no networks', HEADING, rows) }
    },
  }),
  coreCommand({
    name: 'relay-network add',
    usage: 'NETWORK --key NUMBER [--without-tls]',
    summary: 'Let the clients of a network send over SMTP without a password, as an API key of an account',
    detail:
      'They send only what the key permits, from the domains of its account. Any client with an address of the network can do so, so list ' +
      'addresses that only the account has. Clients without TLS are refused unless --without-tls is given. All processes have it within 5 seconds',
    parameters: {
      NETWORK: 'Address, or network such as 192.0.2.0/28',
      key: 'Number of the API key; "postrider key list" lists them',
      'without-tls': 'Accept clients that do not use STARTTLS',
    },
    examples: ['relay-network add 192.0.2.17 --key 12'],
    run: async ({ relayNetworks }, { NETWORK: network, key: keyId, 'without-tls': withoutTls }) => {
      await relayNetworks.add({ network, keyId, requiresTls: !withoutTls })
      return { data: { added: network }, text: `relay network ${network} added` }
    },
  }),
  removeCommand({
    kind: 'relay-network',
    summary: 'Let the clients of a network send with a password only',
    list: async ({ relayNetworks }) => (await relayNetworks.list()).map(({ network }) => ({ name: network })),
    remove: ({ relayNetworks }, network) => relayNetworks.remove(network),
  }),
]
