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
} from '@postrider/core'
import type { SMTPServerAddress, SMTPServerDataStream, SMTPServerOptions, SMTPServerSession } from 'smtp-server'
import { CLIENT_LOST, collectMessage, Room, tooLarge } from './message-data.ts'
import type { ParsedPath } from './path.ts'
import { protocolReply, replyFor } from './replies.ts'
import { unknownTo } from './smtpapi-lookups.ts'
import { tellSender } from './smtpapi-notice.ts'
import { toSubmission } from './to-submission.ts'

export interface SessionDependencies {
  readonly core: Core
  readonly log: Log
  readonly budget: ByteBudget
  readonly trusted: Config['relayTrusted']
}

/** Wrong credentials after which a session ends: a client that has them wrong once has them wrong (V06). */
const MOST_FAILED_LOGINS = 10
/** The same for mail without any, where there are networks that need none. */
const MOST_UNKNOWN = 20

/** What a session does at each step: a few lines around a core call. */
export function sessionHandlers(dependencies: SessionDependencies): Partial<SMTPServerOptions> {
  const { core, log, budget, trusted } = dependencies
  const trustedNetworks = new NetworkList(trusted?.networks ?? [])
  const unknown = new WeakMap<SMTPServerSession, number>()
  const failedLogins = new WeakMap<SMTPServerSession, number>()
  /** Whose room a message takes that is on its way, since MAIL. */
  const holders = new WeakMap<SMTPServerSession, number>()

  /** RFC 4954 6: 535 whatever was wrong with the credentials, 454 when we could not look. */
  function loginRefusal(error: unknown, session: SMTPServerSession): { responseCode: number; message: string } {
    const { responseCode, message } = replyFor(error, log)
    const braked = error instanceof ServiceError && error.errorName === 'wrongKeysTooMany'
    if (responseCode < 500 && !braked) return { responseCode: 454, message: '4.7.0 Temporary authentication failure' }
    const failed = (failedLogins.get(session) ?? 0) + 1
    failedLogins.set(session, failed)
    if (failed >= MOST_FAILED_LOGINS) return { responseCode: 421, message: '4.7.0 Too many failed logins' }
    return { responseCode: braked ? responseCode : 535, message }
  }

  /** Whoever may send, asked at AUTH, MAIL and DATA: a session or a transaction may stay open longer than its key may be used. */
  async function senderWith(secret: string, address: string): Promise<Principal> {
    const principal = await core.auth.authenticate(secret, plainAddress(address))
    requireScope(principal, 'send')
    return principal
  }

  async function logIn(username: string, secret: string, address: string): Promise<void> {
    const principal = await senderWith(secret, address)
    const named = username.toLowerCase()
    if (named !== 'apikey' && named !== principal.account.name.toLowerCase()) {
      throw new ServiceError('keyInvalid', { reason: 'user name of another account' })
    }
  }

  /** Of whoever authenticated, else of the networks that need not. */
  function secretOf(session: SMTPServerSession): string {
    const { user, remoteAddress } = session
    if (user) return user as string
    if (trusted && trustedNetworks.has(remoteAddress)) return trusted.apiKey
    const times = (unknown.get(session) ?? 0) + 1
    unknown.set(session, times)
    if (times >= MOST_UNKNOWN) throw protocolReply(421, '4.7.0 Too many commands without authentication')
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
    // Said anew, since the library remembers it from a MAIL that was refused.
    session.envelope.smtpUtf8 = SMTPUTF8 === true
    requireUtf8(address, session)
    const announced = Number(SIZE ?? 0)
    if (!budget.fits(announced, holderOf(principal))) {
      throw new ServiceError('overloaded', { reason: 'no room for a message of the announced size' })
    }
    // The null sender (RFC 5321 4.5.5) is for automatic replies; whom they are from, the From header says.
    if (address.address === '') return
    const domain = parseAddress(address.address)?.domain
    const { id, parentId } = principal.account
    if (domain === undefined || !(await core.domains.findActive(id, domain, parentId))) {
      const where = domain === undefined ? 'MAIL FROM has no valid address' : `${domain} in MAIL FROM`
      throw new ServiceError('senderInvalid', {
        values: { where },
        reason: 'MAIL FROM is not on an active sending domain',
      })
    }
  }

  async function data(stream: SMTPServerDataStream, session: SMTPServerSession): Promise<string> {
    const { envelope } = session
    const sender = envelope.mailFrom ? envelope.mailFrom.address : ''
    const room = new Room(budget, holders.get(session))
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
          if (!room.take(octets)) throw new ServiceError('overloaded', { reason: 'no room for the parts of a message' })
        },
        readParts: (message) => core.messages.readParts(message),
        unknown: (api) => unknownTo(core, principal.account.id, api),
      })
      const { messageId } = await core.messages.accept(unwrapped.submission)
      await tellSender({ core, log }, { ...unwrapped, messageId, to: sender })
      return `2.0.0 Ok: queued as ${messageId}${unwrapped.mended ? ` (${unwrapped.mended})` : ''}`
    } finally {
      room.leave()
    }
  }

  return {
    onAuth({ username = '', password }, session, done) {
      logIn(username, password ?? '', session.remoteAddress).then(
        // The key itself, since it is asked about again for every message: it may be revoked meanwhile.
        () => done(null, { user: password }),
        (error: unknown) => done(null, loginRefusal(error, session)),
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
    // Nobody is there to read it, and nothing was stored.
    if (code === CLIENT_LOST) return protocolReply(421, '4.4.2 Connection lost')
    return replyFor(error, log)
  }
}

/** The parameters of the extensions that EHLO offers (RFC 1870, 6152, 6531, 4954). */
const MAIL_PARAMETERS = new Set(['SIZE', 'BODY', 'SMTPUTF8', 'AUTH'])
const RCPT_PARAMETERS = new Set<string>()

/** RFC 5321 4.1.1.11: what we would not do must not be promised, REQUIRETLS or DSN for instance. */
function requireKnown({ args }: SMTPServerAddress, known: ReadonlySet<string>): void {
  const unknown = Object.keys(args || {}).find((name) => !known.has(name))
  if (unknown !== undefined) throw protocolReply(555, `5.5.4 The parameter ${unknown} is not supported`)
}

/** RFC 6531 3.5: a non-ASCII address without SMTPUTF8 on MAIL is refused. */
function requireUtf8(path: SMTPServerAddress, session: SMTPServerSession): void {
  // The library hands on what parsePath answered.
  if (session.envelope.smtpUtf8 || (path as SMTPServerAddress & ParsedPath).ascii) return
  throw protocolReply(553, '5.6.7 A non-ASCII address needs the SMTPUTF8 parameter on MAIL')
}

/** RFC 3848, RFC 6531 4.3: ESMTPSA, UTF8SMTPSA and the like. */
function protocolOf({ transmissionType, envelope }: SMTPServerSession): string {
  return envelope.smtpUtf8 ? transmissionType.replace(/^ESMTP/, 'UTF8SMTP') : transmissionType
}

/** What the client called itself, as far as it can stand in a Received field. */
function heloName({ hostNameAppearsAs }: SMTPServerSession): string {
  return /^[a-z0-9.:[\]_-]{1,255}$/i.test(hostNameAppearsAs) ? hostNameAppearsAs : 'unknown'
}
