import { findSecrets, makeTrackingToken, secretAgrees } from '@postrider/core'
import { NotChecked } from './check-result.ts'
import { RESPONSE_MS, type Readings } from './readings.ts'

/** Whether the API of this installation is at a URL. Otherwise what is there: an error, or a status. */
export type FoundAt = { readonly isOwn: true } | { readonly isOwn: false; readonly problem: string }

const FOREIGN = 'links of this installation are not known there (status 404)'

/**
 * Opens a link as recipients do, through whatever proxy is in front: /health may be closed to the outside, and another installation would answer it, too.
 * Only a process with this SECRET_KEY knows the link. Its message does not exist, and opening it has no effect.
 */
export async function findOwn(url: string, readings: Readings): Promise<FoundAt> {
  const link = `${url}/t/u/${await tokenOf(readings)}`
  return fetch(link, { signal: AbortSignal.timeout(RESPONSE_MS), redirect: 'manual' }).then(
    async (response) => {
      await response.body?.cancel()
      if (response.status === 200) return { isOwn: true }
      return { isOwn: false, problem: response.status === 404 ? FOREIGN : `status ${response.status}` }
    },
    (error: Error & { cause?: { code?: string } }) => ({ isOwn: false, problem: error.cause?.code ?? error.message }),
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
