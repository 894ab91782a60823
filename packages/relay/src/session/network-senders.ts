import {
  type Config,
  type Core,
  NetworkList,
  type Principal,
  plainAddress,
  type RelayNetwork,
  requireScope,
} from '@postrider/core'
import type { SMTPServerSession } from 'smtp-server'
import { sendsByNetwork } from '../smtp/sends-by-network.ts'
import { protocolReply } from './replies.ts'

/** Clients that send without AUTH, since the operator listed their networks: by settings, with one key, or with a key for each network. */
export interface NetworkSenders {
  /** Looks at a client that connects. Throws 421 if the list cannot be read. */
  enter(session: SMTPServerSession): Promise<void>
  /** Returns the sender of a session without AUTH; undefined if it is not one of them. Throws 530 if it lacks the TLS that is demanded. */
  senderOf(session: SMTPServerSession): Promise<Principal> | undefined
}

export function createNetworkSenders(core: Core, trusted: Config['relayTrusted']): NetworkSenders {
  const trustedNetworks = new NetworkList(trusted?.networks ?? [])
  const listed = new WeakMap<SMTPServerSession, RelayNetwork>()
  return {
    async enter(session) {
      const { remoteAddress } = session
      if (trustedNetworks.has(remoteAddress)) return void sendsByNetwork.add(session)
      const found = await core.relayNetworks.find(remoteAddress).catch(() => {
        throw protocolReply(421, '4.3.2 Service temporarily not available')
      })
      if (!found) return
      listed.set(session, found)
      sendsByNetwork.add(session)
    },
    senderOf(session) {
      const found = listed.get(session)
      if (!found)
        return trusted && sendsByNetwork.has(session)
          ? authenticateSender(core, trusted.apiKey, session.remoteAddress)
          : undefined
      if (found.requiresTls && !session.secure) throw protocolReply(530, '5.7.0 Must issue a STARTTLS command first')
      return senderOfNetwork(core, found, session.remoteAddress)
    },
  }
}

/** Authenticates at AUTH, MAIL and DATA: a session or transaction may outlive the validity of its key. */
export async function authenticateSender(core: Core, secret: string, address: string): Promise<Principal> {
  const principal = await core.auth.authenticate(secret, plainAddress(address))
  requireScope(principal, 'send')
  return principal
}

async function senderOfNetwork(core: Core, { keyId }: RelayNetwork, address: string): Promise<Principal> {
  const principal = await core.auth.authenticateByNetwork(keyId, plainAddress(address))
  requireScope(principal, 'send')
  return principal
}
