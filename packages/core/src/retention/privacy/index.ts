import { randomBytes, randomUUIDv7 } from 'node:crypto'
import { addressHash } from '../../accounts/audit/address-hash.ts'
import { type Actor, noteChange, OPERATOR } from '../../accounts/audit/index.ts'
import { parseAddress } from '../../mime/address.ts'
import { invalidParameter, ServiceError } from '../../platform/errors.ts'
import { exportPerson, type PersonPage } from './export.ts'
import { type ForgetDependencies, forgetSome, sealSubjects } from './forget.ts'
import type { ForgetRequest, Subject } from './request.ts'
import { insertRequest, secondsUntilDue, selectRequest, selectRequests } from './store.ts'

export type { KeptDelivery, KeptSuppression, PersonPage } from './export.ts'
export type { ForgetRequest, Receipt, RequestState } from './request.ts'

/** Maximum number of addresses in one erasure request. */
const MAX_ADDRESSES = 1000

/** Erasure and export of the data stored about recipients. */
export interface Privacy {
  /**
   * Requests the erasure of recipients, all or none of them, which a delivery worker then performs. Returns when the request is
   * stored.
   *
   * Throws parameterMissing and parameterInvalid (email), suppressionEmailInvalid.
   */
  forget(accountId: number, addresses: readonly string[], by?: Actor): Promise<ForgetRequest>
  /** Returns an erasure request. Throws forgetRequestUnknown. */
  request(accountId: number, id: string): Promise<ForgetRequest>
  /** Returns the erasure requests of an account, newest first. */
  requests(
    accountId: number,
    page: { readonly limit: number; readonly offset: number },
  ): Promise<{ requests: ForgetRequest[]; total: number }>
  /** Processes one batch. Returns false if no request is due. Delivery workers may call it concurrently. */
  forgetSome(): Promise<boolean>
  /** Returns the seconds until a request is due; undefined if there is none. */
  secondsUntilDue(): Promise<number | undefined>
  /** Returns a page of the data stored about one recipient. Throws suppressionEmailInvalid or parameterInvalid (next). */
  export(accountId: number, question: ExportQuestion, by?: Actor): Promise<PersonPage>
}

export interface ExportQuestion {
  readonly email: string
  /** Maximum number of deliveries on the page. */
  readonly limit: number
  /** `next` of the previous page. */
  readonly next?: string | undefined
}

export function createPrivacy(dependencies: ForgetDependencies): Privacy {
  const { sql, secrets, forgotten } = dependencies
  const find = async (accountId: number, uuid: string): Promise<ForgetRequest> => {
    const found = await selectRequest(sql, accountId, uuid)
    if (!found) throw new ServiceError('forgetRequestUnknown')
    return { id: requestId(uuid), ...found }
  }
  return {
    async forget(accountId, addresses, by = OPERATOR) {
      const keys = keysOf(addresses)
      const uuid = randomUUIDv7()
      const subjects = keys.map((key): Subject => ({ key, pseudonym: makePseudonym() }))
      await sql.begin(async (transaction) => {
        const sealed = sealSubjects(secrets, uuid, subjects)
        await insertRequest(transaction, { uuid, accountId, emails: keys.length, sealed })
        await noteChange(transaction, {
          accountId,
          by,
          action: 'privacy.forget',
          object: `request ${requestId(uuid)}`,
          after: { addresses: keys.map((key) => addressHash(secrets, key)) },
        })
      })
      return find(accountId, uuid)
    },
    async request(accountId, id) {
      const uuid = uuidOf(id)
      if (!uuid) throw new ServiceError('forgetRequestUnknown')
      return find(accountId, uuid)
    },
    async requests(accountId, page) {
      const { requests, total } = await selectRequests(sql, accountId, page)
      return { requests: requests.map(({ uuid, ...request }) => ({ id: requestId(uuid), ...request })), total }
    },
    forgetSome: () => forgetSome(dependencies),
    secondsUntilDue: () => secondsUntilDue(sql),
    async export(accountId, { email, limit, next }, by = OPERATOR) {
      const key = parseAddress(email)?.key
      if (key === undefined) throw new ServiceError('suppressionEmailInvalid')
      // Audited before the export, so that no data are read without an entry in the audit log.
      await noteChange(sql, {
        accountId,
        by,
        action: 'privacy.export',
        object: `address ${addressHash(secrets, key)}`,
      })
      return exportPerson({ sql, forgotten }, { accountId, key, limit, next })
    },
  }
}

function keysOf(addresses: readonly string[]): string[] {
  const named = addresses.filter((address) => address.trim() !== '')
  if (named.length === 0) throw new ServiceError('parameterMissing', { values: { parameter: 'email' } })
  if (named.length > MAX_ADDRESSES) throw invalidParameter('email', `must have at most ${MAX_ADDRESSES} addresses`)
  return [
    ...new Set(
      named.map((address) => {
        const key = parseAddress(address)?.key
        if (key === undefined) throw new ServiceError('suppressionEmailInvalid')
        return key
      }),
    ),
  ]
}

function makePseudonym(): string {
  return `forgotten-${randomBytes(10).toString('hex')}`
}

function requestId(uuid: string): string {
  return `gd_${uuid.replaceAll('-', '')}`
}

function uuidOf(id: string): string | undefined {
  return /^gd_([0-9a-f]{32})$/.exec(id)?.[1]
}
