import { type CreditType, invalidParameter, ServiceError, type Subaccount } from '@postrider/core'
import Type, { type Static } from 'typebox'
import { type Operation, operation } from '../operation.ts'
import { Count, Offset, pageOf } from '../shapes.ts'
import { SUBACCOUNT_CREDITS } from './subaccount-credits.ts'

const Shown = {
  username: Type.String(),
  email: Type.String(),
  credit_type: Type.String({ description: 'unlimited or one_time_credit' }),
  disabled: Type.Boolean(),
}
const SubaccountShown = Type.Object(Shown)
const EXAMPLE = { username: 'dock2', email: 'd2@ship.example', credit_type: 'unlimited', disabled: false }

/** Contract section 11: text in the SDKs, a number in their documentation. */
const SetPassword = Type.Union([Type.String(), Type.Integer()], { description: '1: set a password; 0: no password' })

/** Contract section 11. */
export const SUBACCOUNTS: readonly Operation[] = [
  operation({
    name: 'createSubaccount',
    creates: true,
    summary: 'Create a subaccount. Its API key is shown once',
    cli: 'subaccount create',
    group: 'Subaccount',
    scope: 'subaccounts',
    routes: [['/subaccounts/createSubaccount', 'POST']],
    input: Type.Object({
      username: Type.String({ description: '3 to 64 letters, digits, dots, dashes and underscores' }),
      email: Type.String(),
      setpassword: SetPassword,
      password: Type.Optional(
        Type.String({
          description: 'at least 8 characters, including an upper-case letter, a lower-case letter and a digit',
        }),
      ),
      credit_type: Type.Optional(Type.String({ description: 'unlimited or one_time_credit' })),
    }),
    answer: Type.Object({ ...Shown, api_key: Type.String() }),
    errors: [
      'usernameInvalid',
      'usernameTaken',
      'subaccountEmailInvalid',
      'passwordWeak',
      'creditInvalid',
      'subaccountNested',
    ],
    example: {
      input: { username: 'dock2', email: 'd2@ship.example', setpassword: '1', password: 'Anchor77x' },
      data: { ...EXAMPLE, api_key: 'pr_0000000000000000000000000000000000' },
    },
    act: async (input, { core, principal, by }) => {
      const { username, email, credit_type = 'unlimited' } = input
      const account = { username, email, password: passwordOf(input), creditType: creditTypeOf(credit_type) }
      const { subaccount, secret } = await core.subaccounts.create(principal.account, account, by)
      return { data: { ...shown(subaccount), api_key: secret } }
    },
  }),
  operation({
    name: 'updateSubaccount',
    summary: "Change a subaccount's email, password or credit type",
    cli: 'subaccount update',
    group: 'Subaccount',
    scope: 'subaccounts',
    routes: [['/subaccounts/updateSubaccount', 'POST']],
    input: Type.Object({
      username: Type.String(),
      new_email: Type.Optional(Type.String()),
      new_password: Type.Optional(Type.String()),
      confirm_password: Type.Optional(Type.String({ description: 'repeat new_password' })),
      credit_type: Type.Optional(Type.String({ description: 'unlimited or one_time_credit' })),
    }),
    answer: SubaccountShown,
    errors: ['subaccountUnknown', 'subaccountEmailInvalid', 'passwordWeak', 'creditInvalid'],
    example: {
      input: { username: 'dock2', new_email: 'dock@ship.example' },
      data: { ...EXAMPLE, email: 'dock@ship.example' },
    },
    act: async ({ username, new_email, new_password, confirm_password, credit_type }, { core, principal, by }) => {
      if (new_email === undefined && new_password === undefined && credit_type === undefined) throw missing('new_email')
      if (new_password !== undefined && confirm_password === undefined) throw missing('confirm_password')
      if (new_password !== confirm_password) {
        throw new ServiceError('passwordWeak', { values: { problem: 'new_password and confirm_password differ' } })
      }
      const creditType = credit_type === undefined ? undefined : creditTypeOf(credit_type)
      const changes = { email: new_email, password: new_password, creditType }
      return { data: shown(await core.subaccounts.update(principal.account.id, username, changes, by)) }
    },
  }),
  operation({
    name: 'setSubaccountState',
    summary: 'Disable or enable a subaccount. Takes effect within 5 seconds',
    cli: 'subaccount disable',
    group: 'Subaccount',
    scope: 'subaccounts',
    routes: [['/subaccounts', 'PATCH', 'POST']],
    input: Type.Object({ username: Type.String(), disabled: Type.Boolean() }),
    answer: SubaccountShown,
    errors: ['subaccountUnknown'],
    example: { input: { username: 'dock2', disabled: true }, data: { ...EXAMPLE, disabled: true } },
    act: async ({ username, disabled }, { core, principal, by }) => ({
      data: shown(await core.subaccounts.setDisabled(principal.account.id, username, disabled, by)),
    }),
  }),
  operation({
    name: 'deleteSubaccount',
    summary: 'Delete a subaccount. Its remaining credit is returned to the account',
    cli: 'subaccount delete',
    group: 'Subaccount',
    scope: 'subaccounts',
    routes: [['/subaccounts/delete', 'DELETE', 'POST']],
    input: Type.Object({ username: Type.String() }),
    answer: Type.Object({
      returned_credit: Type.Integer({ description: '0 if the account has no limit of its own' }),
    }),
    errors: ['subaccountUnknown'],
    example: { input: { username: 'dock2' }, data: { returned_credit: 500 } },
    act: async ({ username }, { core, principal, by }) => {
      const { returned } = await core.subaccounts.remove(principal.account.id, username, by)
      return { data: { returned_credit: returned } }
    },
  }),
  operation({
    name: 'listSubaccounts',
    summary: 'List the subaccounts by name',
    cli: 'subaccount list',
    group: 'Subaccount',
    scope: 'subaccounts',
    routes: [
      ['/subaccounts/getSubAccounts', 'GET', 'POST'],
      ['/subaccounts', 'GET'],
    ],
    input: Type.Object({
      limit: Count('at most 1000; default 100'),
      offset: Offset,
      username: Type.Optional(Type.String({ description: 'only the subaccount of this name' })),
    }),
    answer: Type.Array(SubaccountShown),
    errors: [],
    example: { input: { limit: 100, offset: 0 }, data: [EXAMPLE] },
    act: async ({ username, ...input }, { core, principal }) => {
      const page = { ...pageOf(input, { byDefault: 100, most: 1000 }), username }
      const { subaccounts, total } = await core.subaccounts.list(principal.account.id, page)
      return { data: subaccounts.map(shown), totalRecords: total }
    },
  }),
  ...SUBACCOUNT_CREDITS,
]

function shown({ username, email, creditType, disabled }: Subaccount): Static<typeof SubaccountShown> {
  return { username, email, credit_type: creditType, disabled }
}

/** Returns undefined if the subaccount has no password yet. Throws parameterMissing, parameterInvalid. */
function passwordOf({ setpassword, password }: { setpassword: string | number; password?: string }) {
  const wanted = String(setpassword)
  if (wanted !== '0' && wanted !== '1') throw invalidParameter('setpassword', 'must be 1 or 0')
  if (wanted === '0') return undefined
  if (password === undefined || password === '') throw missing('password')
  return password
}

/** Throws creditInvalid. */
function creditTypeOf(text: string): CreditType {
  if (text === 'unlimited' || text === 'one_time_credit') return text
  throw new ServiceError('creditInvalid', { values: { problem: 'credit_type must be unlimited or one_time_credit' } })
}

function missing(parameter: string): ServiceError {
  return new ServiceError('parameterMissing', { values: { parameter } })
}
