import type { Reply } from './behaviours.ts'

interface ReplyError extends Error {
  responseCode: number
}

/** An error that smtp-server turns into this reply. */
export function errorReply({ code, text }: Reply): ReplyError {
  return Object.assign(new Error(text), { responseCode: code })
}
