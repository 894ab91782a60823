import type { SMTPServerSession } from 'smtp-server'

/**
 * The domain of recipients without one: that of MAIL FROM, if the account sends from it. Not that of a host whose mail is sent from another
 * address: it has no mail server.
 */
export const senderDomains = new WeakMap<SMTPServerSession, string>()
