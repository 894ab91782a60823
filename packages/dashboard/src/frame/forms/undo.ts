import type { Config } from '@postrider/core'
import type { FastifyReply, FastifyRequest } from 'fastify'

/** The form that takes back what was done, offered for ten seconds by the next page. */
export interface Undo {
  /** Path that the form is sent to. */
  readonly action: string
  readonly fields: Readonly<Record<string, string>>
}

const COOKIE = 'undo'
/** Paths of forms that take something back. */
const UNDOES = /^\/app\/\d+\/(?:keys\/\d+|suppressions)\/restore$/
/** Longer than it is offered: the next page may take its time. */
const SECONDS = 60

/**
 * Keeps the form in a cookie of the visitor's browser, so that no address is in a URL; or forgets that of the action before. It decides nothing: the
 * form is checked as any other.
 */
export function keepUndo(
  reply: FastifyReply,
  undo: Undo | undefined,
  { publicPath, publicUrl }: Pick<Config, 'publicPath' | 'publicUrl'>,
): void {
  const secure = publicUrl.startsWith('https:')
  const options = { path: `${publicPath}/app`, httpOnly: true, sameSite: 'lax', secure } as const
  if (undo === undefined) reply.clearCookie(COOKIE, options)
  else reply.setCookie(COOKIE, Buffer.from(JSON.stringify(undo)).toString('base64url'), { ...options, maxAge: SECONDS })
}

/**
 * Returns the form that was kept for this account; undefined if there is none. Another host of the domain can set the cookie, so it leads to no other form;
 * and a browser may be another visitor's by now.
 */
export function keptUndo({ cookies }: FastifyRequest, accountId: number | undefined): Undo | undefined {
  const text = cookies[COOKIE]
  if (text === undefined) return undefined
  try {
    const { action, fields } = JSON.parse(Buffer.from(text, 'base64url').toString()) as Partial<Undo>
    const isOurs = String(action).startsWith(`/app/${accountId}/`) && UNDOES.test(String(action))
    const areTexts = Object.values(fields ?? {}).every((value) => typeof value === 'string')
    return isOurs && areTexts ? { action: String(action), fields: { ...fields } } : undefined
  } catch {
    return undefined
  }
}
