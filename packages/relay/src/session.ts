import {
  type ByteBudget,
  type Config,
  type Core,
  holderOf,
  type Log,
  NetworkList,
  type Principal,
  parseAddress,
  plainAddress,
  requireAllowed,
  requireScope,
  ServiceError,
  senderError,
} from '@postrider/core'
import type { SMTPServerAddress, SMTPServerDataStream, SMTPServerOptions, SMTPServerSession } from 'smtp-server'
import { BodyReservation, CLIENT_LOST, collectMessage, tooLarge } from './message-data.ts'
import type { ParsedPath } from './path.ts'
import { protocolReply, replyFor } from './replies.ts'
import { unknownTo } from './smtpapi-lookups.ts'
import { notifySender } from './smtpapi-notice.ts'
import { toSubmission } from './to-submission.ts'

export interface SessionDependencies {
  readonly core: Core
  readonly log: Log
  readonly budget: ByteBudget
  readonly trusted: Config['relayTrusted']
}

/** Failed logins after which a session ends: a client with invalid credentials does not get valid ones by retrying (V06). */
const MAX_FAILED_LOGINS = 10
/** The same for commands without authentication, if there are trusted networks. */
const MAX_UNAUTHENTICATED = 20

/** The handlers of a session, each a thin layer around a call to core. */
export function sessionHandlers(dependencies: SessionDependencies): Partial<SMTPServerOptions> {
  const { core, log, budget, trusted } = dependencies
  const trustedNetworks = new NetworkList(trusted?.networks ?? [])
  const unknown = new WeakMap<SMTPServerSession, number>()
  const failedLogins = new WeakMap<SMTPServerSession, number>()
  /** Holder of the body budget for the message in progress, set by MAIL. */
  const holders = new WeakMap<SMTPServerSession, number>()

  /** RFC 4954 6: 535 for any invalid credentials, 454 if they could not be checked. */
  function loginError(error: unknown, session: SMTPServerSession): { responseCode: number; message: string } {
    const { responseCode, message } = replyFor(error, log)
    const throttled = error instanceof ServiceError && error.errorName === 'wrongKeysTooMany'
    if (responseCode < 500 && !throttled)
      return { responseCode: 454, message: '4.7.0 Temporary authentication failure' }
    const failed = (failedLogins.get(session) ?? 0) + 1
    failedLogins.set(session, failed)
    if (failed >= MAX_FAILED_LOGINS) return { responseCode: 421, message: '4.7.0 Too many failed logins' }
    return { responseCode: throttled ? responseCode : 535, message }
  }

  /** Authenticates at AUTH, MAIL and DATA: a session or transaction may outlive the validity of its key. */
  async function senderWith(secret: string, address: string): Promise<Principal> {
    const principal = await core.auth.authenticate(secret, plainAddress(address))
    requireScope(principal, 'send')
    return principal
  }

  async function logIn(username: string, secret: string, address: string): Promise<void> {
    const principal = await senderWith(secret, address)
    const named = username.toLowerCase()
    if (named !== 'apikey' && named !== principal.account.name.toLowerCase()) {
      throw new ServiceError('keyInvalid', { reason: 'user name belongs to another account' })
    }
  }

  /** The API key of the authenticated user, or RELAY_TRUSTED_KEY for a trusted network. */
  function secretOf(session: SMTPServerSession): string {
    const { user, remoteAddress } = session
    if (user) return user as string
    if (trusted && trustedNetworks.has(remoteAddress)) return trusted.apiKey
    const times = (unknown.get(session) ?? 0) + 1
    unknown.set(session, times)
    if (times >= MAX_UNAUTHENTICATED) throw protocolReply(421, '4.7.0 Too many commands without authentication')
    throw protocolReply(530, '5.7.0 Authentication required')
  }

  async function mailFrom(address: SMTPServerAddress, session: SMTPServerSession): Promise<void> {
    const principal = await senderWith(secretOf(session), session.remoteAddress)
    holders.set(session, holderOf(principal))
    const { sends } = principal.rates
    if (sends) requireAllowed(await core.rateLimits.take(sends))
    core.messages.requireMaySend(principal)
    requireKnown(address, MAIL_PARAMETERS)
    const { SIZE, SMTPUTF8 } = address.args || {}
    // Reset each time, since smtp-server keeps it from a MAIL that was rejected.
    session.envelope.smtpUtf8 = SMTPUTF8 === true
    requireUtf8(address, session)
    const announced = Number(SIZE ?? 0)
    if (!budget.fits(announced, holderOf(principal))) {
      throw new ServiceError('overloaded', { reason: 'announced size exceeds the body budget' })
    }
    // The null sender (RFC 5321 4.5.5) is for automatic replies; their account's domain is checked in the From header.
    if (address.address === '') return
    const domain = parseAddress(address.address)?.domain
    const { id, parentId } = principal.account
    if (domain === undefined || !(await core.domains.findActive(id, domain, parentId))) {
      if (domain !== undefined) throw senderError(domain, 'MAIL FROM', await core.domains.stateOf(id, domain))
      throw new ServiceError('senderInvalid', {
        values: { where: 'MAIL FROM has no valid address' },
        reason: 'MAIL FROM has no valid address',
      })
    }
  }

  async function data(stream: SMTPServerDataStream, session: SMTPServerSession): Promise<string> {
    const { envelope } = session
    const sender = envelope.mailFrom ? envelope.mailFrom.address : ''
    const room = new BodyReservation(budget, holders.get(session))
    try {
      const pieces = await collectMessage(stream, room)
      const principal = await senderWith(secretOf(session), session.remoteAddress)
      const unwrapped = await toSubmission({
        pieces,
        recipients: envelope.rcptTo.map(({ address }) => address),
        nullSender: sender === '',
        principal,
        trace: {
          helo: heloName(session),
          address: plainAddress(session.remoteAddress),
          protocol: protocolOf(session),
        },
        now: new Date(core.clock.now()),
        hold() {
          const octets = pieces.reduce((sum, { length }) => sum + length, 0)
          if (!room.take(octets))
            throw new ServiceError('overloaded', { reason: 'body budget exhausted by the parts of a message' })
        },
        readParts: (message) => core.messages.readParts(message),
        unknown: (api) => unknownTo(core, principal.account.id, api),
      })
      const { messageId } = await core.messages.accept(unwrapped.submission)
      await notifySender({ core, log }, { ...unwrapped, messageId, to: sender })
      return `2.0.0 Ok: queued as ${messageId}${unwrapped.corrected ? ` (${unwrapped.corrected})` : ''}`
    } finally {
      room.leave()
    }
  }

  return {
    onAuth({ username = '', password }, session, done) {
      logIn(username, password ?? '', session.remoteAddress).then(
        // The key itself, since it is authenticated again for every message: it may be revoked meanwhile.
        () => done(null, { user: password }),
        (error: unknown) => done(null, loginError(error, session)),
      )
    },
    onMailFrom(address, session, done) {
      mailFrom(address, session).then(
        () => done(),
        (error: unknown) => done(asReply(error)),
      )
    },
    onRcptTo(address, session, done) {
      try {
        requireKnown(address, RCPT_PARAMETERS)
        requireUtf8(address, session)
        done()
      } catch (error) {
        done(asReply(error))
      }
    },
    onData(stream, session, done) {
      data(stream, session).then(
        (text) => done(null, text),
        (error: unknown) => done(stream.sizeExceeded ? asReply(tooLarge()) : asReply(error)),
      )
    },
  }

  function asReply(error: unknown): Error {
    const { responseCode, code } = error as { responseCode?: number; code?: string }
    if (responseCode !== undefined) return error as Error
    // The client is gone, and nothing was stored.
    if (code === CLIENT_LOST) return protocolReply(421, '4.4.2 Connection lost')
    return replyFor(error, log)
  }
}

/** The parameters of the extensions that EHLO announces (RFC 1870, 6152, 6531, 4954). */
const MAIL_PARAMETERS = new Set(['SIZE', 'BODY', 'SMTPUTF8', 'AUTH'])
const RCPT_PARAMETERS = new Set<string>()

/** RFC 5321 4.1.1.11: an unsupported parameter, such as those of REQUIRETLS or DSN, must be rejected rather than ignored. */
function requireKnown({ args }: SMTPServerAddress, known: ReadonlySet<string>): void {
  const unknown = Object.keys(args || {}).find((name) => !known.has(name))
  if (unknown !== undefined) throw protocolReply(555, `5.5.4 Parameter ${unknown} not supported`)
}

/** RFC 6531 3.5: a non-ASCII address without SMTPUTF8 on MAIL is rejected. */
function requireUtf8(path: SMTPServerAddress, session: SMTPServerSession): void {
  // smtp-server passes on what parsePath returned.
  if (session.envelope.smtpUtf8 || (path as SMTPServerAddress & ParsedPath).ascii) return
  throw protocolReply(553, '5.6.7 Non-ASCII address requires the SMTPUTF8 parameter on MAIL')
}

/** RFC 3848, RFC 6531 4.3: ESMTPSA, UTF8SMTPSA and the like. */
function protocolOf({ transmissionType, envelope }: SMTPServerSession): string {
  return envelope.smtpUtf8 ? transmissionType.replace(/^ESMTP/, 'UTF8SMTP') : transmissionType
}

/** The name the client gave in EHLO, if it is valid in a Received field. */
function heloName({ hostNameAppearsAs }: SMTPServerSession): string {
  return /^[a-z0-9.:[\]_-]{1,255}$/i.test(hostNameAppearsAs) ? hostNameAppearsAs : 'unknown'
}
