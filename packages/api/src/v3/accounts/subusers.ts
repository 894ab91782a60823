import { ServiceError, type Subaccount } from '@postrider/core'
import Type from 'typebox'
import { type Operation, operation } from '../operation.ts'
import { sendPageLinks } from '../page-links.ts'
import { notFound, refuse } from '../refusal.ts'

const OfSubuser = Type.Object({ subuser_name: Type.String({ maxLength: 64 }) })
const ALL = '/subusers'
const ONE = `${ALL}/:subuser_name`
const common = { scope: 'subaccounts', section: '7.1' } as const

/** Entries per page. */
const PAGE = 100
const MAX_PAGE = 500

/** The subaccounts, for which the header `on-behalf-of` acts. */
export const SUBUSERS: readonly Operation[] = [
  operation({
    name: 'listSubusers',
    summary: 'List the subaccounts by name',
    cli: 'subaccount list',
    ...common,
    method: 'GET',
    path: ALL,
    right: 'subusers.read',
    status: 200,
    query: Type.Object({
      username: Type.Optional(Type.String()),
      limit: Type.Optional(Type.Integer({ minimum: 1 })),
      offset: Type.Optional(Type.Integer({ minimum: 0 })),
    }),
    act: async ({ query: { username, limit: most = PAGE, offset = 0 } }, call) => {
      const limit = Math.min(most, MAX_PAGE)
      const { core, principal } = call
      const { subaccounts, total } = await core.subaccounts.list(principal.account.id, { username, limit, offset })
      sendPageLinks(call, { limit, offset, total })
      return subaccounts.map(({ disabled, id, username, email }) => ({ disabled, id, username, email }))
    },
  }),
  operation({
    name: 'createSubuser',
    summary: 'Create a subaccount. Its API key is shown once',
    cli: 'subaccount create',
    ...common,
    method: 'POST',
    path: ALL,
    right: 'subusers.create',
    status: 201,
    body: Type.Object({ username: Type.String(), email: Type.String(), password: Type.String() }),
    act: async ({ body }, { core, principal, by }) => {
      const made = core.subaccounts.create(principal.account, { ...body, creditType: 'unlimited' }, by)
      const { subaccount, secret } = await made.catch(aboutField)
      // The key is an addition: SendGrid's callers create one with on-behalf-of.
      return { ...created(subaccount), api_key: secret }
    },
  }),
  operation({
    name: 'disableSubuser',
    summary: 'Disable or enable a subaccount. Takes effect within 5 seconds',
    cli: 'subaccount disable',
    ...common,
    method: 'PATCH',
    path: ONE,
    right: 'subusers.update',
    status: 204,
    params: OfSubuser,
    body: Type.Object({ disabled: Type.Boolean() }),
    act: async ({ params, body: { disabled } }, { core, principal, by }) => {
      await core.subaccounts.setDisabled(principal.account.id, params.subuser_name, disabled, by).catch(unlessUnknown)
    },
  }),
  operation({
    name: 'deleteSubuser',
    summary: 'Delete a subaccount. Its remaining credit is returned to the account',
    cli: 'subaccount delete',
    ...common,
    method: 'DELETE',
    path: ONE,
    right: 'subusers.delete',
    status: 204,
    params: OfSubuser,
    act: async ({ params }, { core, principal, by }) => {
      await core.subaccounts.remove(principal.account.id, params.subuser_name, by).catch(unlessUnknown)
    },
  }),
]

function created({ id, username, email }: Subaccount) {
  return { username, user_id: id, email, credit_allocation: { type: 'unlimited' } }
}

const FIELDS: Readonly<Record<string, string>> = {
  usernameInvalid: 'username',
  usernameTaken: 'username',
  subaccountEmailInvalid: 'email',
  passwordWeak: 'password',
}

/** Reports core's errors with v3's names of the fields. */
function aboutField(error: unknown): never {
  const field = error instanceof ServiceError ? FIELDS[error.errorName] : undefined
  throw field === undefined ? error : refuse(400, (error as Error).message, field)
}

function unlessUnknown(error: unknown): never {
  throw error instanceof ServiceError && error.errorName === 'subaccountUnknown' ? notFound() : error
}
