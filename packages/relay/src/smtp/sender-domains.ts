import type { SMTPServerSession } from 'smtp-server'

/**
 * The domain of recipients without one: that of MAIL FROM, if the account sends from it. A host whose mail is sent from another address has no mail
 * server, so it is none.
 */
export const senderDomains = new WeakMap<SMTPServerSession, string>()
