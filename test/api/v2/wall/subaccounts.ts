import type { Caller, Input, Setting, Wall } from './entry.ts'

let made = 0

/** A subaccount of the owner's, by hand: the owner is a subaccount itself, which can't make any. */
async function makeDock({ service }: Setting, owner: Caller): Promise<Input & { username: string }> {
  const { accountId } = await service.makeSender()
  const username = `dock${++made}`
  await service.sql`
    update accounts set parent_id = ${owner.accountId}, username = ${username}, email = 'd@ship.example' where id = ${accountId}`
  await service.sql`insert into credit_balances (account_id, balance) values (${accountId}, 7)`
  return { username }
}

const missing = { username: 'nowhere' }
const shownIn = ({ username }: Input) => ['listSubaccounts', { username }] as const
const creditIn = ({ username }: Input) => ['getSubaccountCredit', { username }] as const

export const subaccounts: Wall = {
  createSubaccount: {
    kind: 'own',
    owner: ({ service }) => service.makeSender(),
    input: { username: 'wharf', email: 'wharf@ship.example', setpassword: '0' },
    seen: ['listSubaccounts', {}],
  },
  listSubaccounts: { kind: 'list', make: async (setting, owner) => (await makeDock(setting, owner)).username },
  updateSubaccount: {
    kind: 'object',
    make: async (setting, owner) => ({ ...(await makeDock(setting, owner)), new_email: 'thief@ship.example' }),
    missing,
    seen: shownIn,
  },
  setSubaccountState: {
    kind: 'object',
    make: async (setting, owner) => ({ ...(await makeDock(setting, owner)), disabled: true }),
    missing,
    seen: shownIn,
  },
  deleteSubaccount: { kind: 'object', make: makeDock, missing, seen: shownIn },
  setSubaccountCredit: {
    kind: 'object',
    make: async (setting, owner) => ({ ...(await makeDock(setting, owner)), action: 'decrease', amount: 1 }),
    missing,
    seen: creditIn,
  },
  setRecurringCredit: {
    kind: 'object',
    make: async (setting, owner) => ({
      ...(await makeDock(setting, owner)),
      recurring_credit: 5,
      timeperiod: 'daily',
      start_date: '2026-01-01',
      end_date: '2099-01-01',
    }),
    missing,
    seen: creditIn,
  },
  getSubaccountCredit: { kind: 'object', make: makeDock, missing, seen: creditIn },
}
