import { findSecrets, makeTrackingToken, secretAgrees } from '@postrider/core'
import { NotChecked } from './check-result.ts'
import { RESPONSE_MS, type Readings } from './readings.ts'

/** Whether the API of this installation is at a URL. Otherwise what is there: an error, or a status. */
export type FoundAt = { readonly isOwn: true } | { readonly isOwn: false; readonly problem: string }

const FOREIGN = 'links of this installation are not known there (status 404)'

const ANY = 'links that no installation has made are known there, too (status 200)'

/**
 * Opens a link as recipients do, through whatever proxy is in front: /health may be closed to the outside, and another installation would answer it, too.
 * Only a process with this SECRET_KEY knows the link. Its message does not exist, and opening it has no effect. A site that responds to every path with a
 * page does so to a link with another token, too.
 */
export async function findOwn(url: string, readings: Readings): Promise<FoundAt> {
  const token = await tokenOf(readings)
  const reversed = [...token].reverse().join('')
  const [found, other] = await Promise.all([token, reversed].map((one) => responseAt(`${url}/t/u/${one}`)))
  if (found !== 200)
    return {
      isOwn: false,
      problem: found === 404 ? FOREIGN : typeof found === 'number' ? `status ${found}` : `${found}`,
    }
  return other === 200 ? { isOwn: false, problem: ANY } : { isOwn: true }
}

/** Returns the status, or the error in words. */
function responseAt(link: string): Promise<number | string> {
  return fetch(link, { signal: AbortSignal.timeout(RESPONSE_MS), redirect: 'manual' }).then(
    async (response) => {
      await response.body?.cancel()
      return response.status
    },
    (error: Error & { cause?: { code?: string } }) => error.cause?.code ?? error.message,
  )
}

/** Throws {@link NotChecked} if the key is not known here. */
async function tokenOf({ config, sql }: Readings): Promise<string> {
  const secrets = findSecrets(config)
  if (!secrets) throw new NotChecked('the SECRET_KEY of this installation is not known here')
  // During a rotation it says which of the keys is in use. Without a database, the first one is tried.
  await Promise.resolve()
    .then(() => secretAgrees(sql(), secrets))
    .catch(() => {})
  return makeTrackingToken(secrets, {
    kind: 'unsubscribe',
    accountId: 0,
    messageId: '0'.repeat(32),
    recipientNo: 0,
    group: 0,
    link: 0,
    url: '',
  })
}
