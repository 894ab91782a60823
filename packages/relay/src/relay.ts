import { constants } from 'node:crypto'
import {
  type Certificate,
  type Config,
  type Core,
  createByteBudget,
  type InheritedSockets,
  LIMITS,
  type Log,
  measure,
} from '@postrider/core'
import type { SMTPServerOptions } from 'smtp-server'
import { createNetworkSenders } from './session/network-senders.ts'
import { sessionHandlers } from './session/session.ts'
import { RelayServer } from './smtp/connection.ts'
import { createSessionLimits } from './smtp/session-limits.ts'
import { CLOSE_MS, COMMAND_MS, runSmtpServers, type SmtpServers } from './smtp/smtp-servers.ts'

export interface RelayOptions {
  readonly core: Core
  readonly config: Config
  readonly log: Log
  readonly certificate: Certificate
  readonly sockets?: InheritedSockets
}

/** Connections of each port. */
const MAX_CLIENTS = 2000

/** The SMTP relay on its two ports: STARTTLS and implicit TLS. */
export function createRelay({ core, config, log, certificate, sockets }: RelayOptions): SmtpServers {
  const budget = createByteBudget(config.bodyBudget)
  measure(() => ({ body_bytes: budget.used, body_limit_bytes: budget.total }))
  const networks = createNetworkSenders(core, config.relayTrusted)
  const limits = createSessionLimits({
    trusted: config.relayTrusted?.networks ?? [],
    isListed: core.relayNetworks.has,
    proxies: config.trustProxy,
    maxClients: MAX_CLIENTS,
  })
  const make = (secure: boolean): RelayServer => {
    const options: SMTPServerOptions = {
      ...certificate,
      ...sessionHandlers({ core, log, budget, limits, networks }),
      secure,
      name: config.heloName,
      banner: 'Postrider',
      size: LIMITS.messageSize,
      maxRecipients: LIMITS.smtpRecipients,
      maxClients: MAX_CLIENTS,
      socketTimeout: COMMAND_MS,
      closeTimeout: CLOSE_MS,
      minVersion: 'TLSv1.2',
      // A client could have the costly half of a handshake made again and again (RFC 5746 6).
      secureOptions: constants.SSL_OP_NO_RENEGOTIATION,
      authMethods: ['PLAIN', 'LOGIN'],
      authRequiredMessage: '5.7.0 Authentication required',
      disabledCommands: ['WIZ', 'SHELL', 'KILL', 'XCLIENT', 'XFORWARD'],
      disableReverseLookup: true,
      hideENHANCEDSTATUSCODES: false,
      hideDSN: false,
      maxAllowedUnauthenticatedCommands: 20,
      logger: false,
    }
    const server = new RelayServer(options, limits.handshakes)
    // Without a listener, one invalid TLS record would end the process.
    server.on('error', (err) => log.debug({ err }, 'connection failed'))
    return server
  }
  return runSmtpServers({
    servers: [
      { name: 'relay', server: make(false), port: config.relayPort },
      { name: 'relay-tls', server: make(true), port: config.relayTlsPort },
    ],
    host: config.relayHost,
    certificate,
    sockets,
    maxSessionMs: limits.maxMs,
  })
}
