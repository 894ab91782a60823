import type { SMTPServerSession } from 'smtp-server'

/** Sessions of clients that need not authenticate, because of their network. */
export const sendsByNetwork = new WeakSet<SMTPServerSession>()
