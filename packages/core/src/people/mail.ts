import type { ServiceMail } from '../messages/service-mail.ts'
import { ServiceError } from '../platform/errors.ts'
import type { Log } from '../platform/process/log.ts'
import { sha256 } from './tokens.ts'

/** The mail of this module, sent through the service's own accept. */
export interface PeopleMail {
  /** The address of a page of the dashboard with a token: `/app/verify?token=…`. */
  url(page: LinkPage, token: string): string
  /** The address of the page to log in, which also leads to a new password. */
  readonly logInUrl: string
  /** Whether the message was accepted. False if mail of the service cannot be sent, which is logged. */
  send(message: {
    readonly to: string
    readonly subject: string
    readonly text: string
    readonly key: string
  }): Promise<boolean>
}

/** Pages of the dashboard that take a token. */
export type LinkPage = 'first' | 'invitation' | 'verify' | 'reset'

export function createPeopleMail({
  serviceMail,
  publicUrl,
  log,
}: {
  readonly serviceMail: ServiceMail
  readonly publicUrl: string
  readonly log: Log
}): PeopleMail {
  return {
    url: (page, token) => linkTo(publicUrl, page, token),
    logInUrl: `${publicUrl}/app/login`,
    async send({ to, subject, text, key }) {
      if (!serviceMail.isPossible) return false
      try {
        await serviceMail.send({ to, subject, text, key: `people ${sha256(key).toString('base64url')}` })
        return true
      } catch (error) {
        if (!(error instanceof ServiceError)) throw error
        log.warn({ error: error.errorName, problem: error.message }, 'could not send mail of the service')
        return false
      }
    },
  }
}

/** The address of a page of the dashboard with a token. */
export function linkTo(publicUrl: string, page: LinkPage, token: string): string {
  return `${publicUrl}/app/${page}?token=${token}`
}

/** Characters of a name that are shown. */
const MAX_QUOTED = 60

/**
 * A name that a stranger chose, as mail of the service shows it: in quotes, on one line, and without what a mail program would make a link of. Otherwise
 * anyone who can sign up could have the service mail a text of theirs to an address of their choice.
 */
export function asQuoted(name: string): string {
  const line = name.replaceAll(/[\p{C}\p{Z}]+/gu, ' ').replaceAll(/["“”„]/g, "'")
  const plain = line.replaceAll(/[.:/\\@]+(?=[^ ])/g, ' ').trim()
  const shown = [...plain]
  return `“${shown.slice(0, MAX_QUOTED).join('')}${shown.length > MAX_QUOTED ? '…' : ''}”`
}
