import { ServiceError } from '../../platform/errors.ts'
import { type OutboundAnswer, OutboundError, type OutboundHttp } from '../../platform/net/outbound-http.ts'

const JSON_TYPE = { 'content-type': 'application/json; charset=utf-8' }

/**
 * Checks that the URL accepts a HEAD request or, if that fails, a POST of an empty object.
 *
 * Throws exportUnreachable.
 */
export async function requireReachable(http: OutboundHttp, url: string): Promise<void> {
  const refused = (problem: string) => new ServiceError('exportUnreachable', { values: { problem } })
  try {
    if (isSuccess(await http.request({ url, method: 'HEAD' }))) return
    const answer = await http.request({ url, method: 'POST', headers: JSON_TYPE, body: '{}' })
    if (!isSuccess(answer)) throw refused(`received status ${answer.status}`)
  } catch (error) {
    throw error instanceof OutboundError ? refused(error.message) : error
  }
}

/** Posts a notification and returns whether the URL accepted it. */
export async function postCallback(
  http: OutboundHttp,
  url: string,
  body: Readonly<Record<string, unknown>>,
): Promise<boolean> {
  try {
    return isSuccess(await http.request({ url, method: 'POST', headers: JSON_TYPE, body: JSON.stringify(body) }))
  } catch (error) {
    if (error instanceof OutboundError) return false
    throw error
  }
}

function isSuccess({ status }: OutboundAnswer): boolean {
  return status >= 200 && status < 300
}
