import {
  type Certificate,
  type Config,
  type Core,
  createByteBudget,
  type InheritedSockets,
  type Log,
} from '@postrider/core'
import { createClientCount } from '../smtp/client-count.ts'
import { RelayServer } from '../smtp/connection.ts'
import { CLOSE_MS, COMMAND_MS, runSmtpServers, type SmtpServers } from '../smtp/smtp-servers.ts'
import { MAX_OCTETS } from './return-data.ts'
import { returnHandlers } from './return-session.ts'
import { createSessionTime } from './session-time.ts'

export interface ReturnsOptions {
  readonly core: Core
  readonly config: Config
  readonly log: Log
  readonly certificate: Certificate
  readonly sockets?: InheritedSockets
}

const MAX_CLIENTS = 500
/** Connections of a client, and of the network around it: a fifth of all, and five servers of a large provider. */
const MAX_CONNECTIONS = { ofClient: 20, ofSite: 100 } as const
/** DMARC and TLS reports at once: bytes of all of them, and their number. */
const REPORT_BUDGET = 64 * 1024 * 1024
const MAX_REPORTS = { ofClient: 4, ofSite: 10 } as const
/**
 * A report has one recipient. Others get 452, at which a server sends them a copy of their own: one result for several would have to be repeated
 * for all of them.
 */
const MAX_RECIPIENTS = 1
/** Milliseconds of a session; and of one without a message while connections are scarce. */
const MAX_SESSION_MS = 900_000
const CROWDED_MS = 30_000

/**
 * The SMTP server that mail to return paths, and to the operator's addresses, comes to. Everybody may use it, so it offers no AUTH; nothing
 * is passed on, and no mail is sent in return.
 */
export function createReturns({ core, config, log, certificate, sockets }: ReturnsOptions): SmtpServers {
  const time = createSessionTime({ maxClients: MAX_CLIENTS, maxMs: MAX_SESSION_MS, crowdedMs: CROWDED_MS })
  const dependencies = {
    core,
    log,
    budget: createByteBudget(config.bodyBudget),
    reportBudget: createByteBudget(REPORT_BUDGET),
    clients: createClientCount(MAX_CONNECTIONS),
    reportClients: createClientCount(MAX_REPORTS),
    time,
  }
  const server: RelayServer = new RelayServer({
    ...certificate,
    ...returnHandlers(dependencies),
    name: config.heloName,
    banner: 'Postrider',
    size: MAX_OCTETS,
    maxRecipients: MAX_RECIPIENTS,
    maxClients: MAX_CLIENTS,
    socketTimeout: COMMAND_MS,
    closeTimeout: CLOSE_MS,
    authOptional: true,
    disabledCommands: ['AUTH', 'WIZ', 'SHELL', 'KILL', 'XCLIENT', 'XFORWARD'],
    disableReverseLookup: true,
    hideENHANCEDSTATUSCODES: false,
    logger: false,
  })
  // Without a listener, one invalid TLS record would end the process.
  server.on('error', (err) => log.debug({ err }, 'connection failed'))
  return runSmtpServers({
    servers: [{ name: 'returns', server, port: config.returnsPort }],
    host: config.returnsHost,
    certificate,
    sockets,
    maxSessionMs: time.of,
  })
}
