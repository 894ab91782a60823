import { type CreditPeriod, invalidParameter, type SubaccountCredit } from '@postrider/core'
import Type, { type Static } from 'typebox'
import { type Operation, operation } from '../operation.ts'

/** Numbers may be text, in JSON too; an invalid one gets this group's own error code. */
const Amount = Type.Union([Type.Number(), Type.String()], { description: 'a whole number of recipients' })
const Day = Type.Union([Type.String(), Type.Number()], { description: 'yyyy-mm-dd, UTC' })
const Nullable = Type.Union([Type.Integer(), Type.Null()])

export const CreditDetails = Type.Object({
  username: Type.String(),
  credit_type: Type.String({ description: 'unlimited or one_time_credit' }),
  available: Nullable,
  one_time_credit: Nullable,
  recurring_credit: Type.Union([
    Type.Null(),
    Type.Object({
      amount: Type.Integer(),
      left: Type.Integer({ description: 'left in the current period' }),
      timeperiod: Type.String(),
      start_date: Type.String(),
      end_date: Type.String(),
      status: Type.String(),
    }),
  ]),
})

/** Contract section 11; the misspelling is the one that every SDK uses. */
const PERIODS: Readonly<Record<string, CreditPeriod>> = {
  monhtly: 'month',
  monthly: 'month',
  weekly: 'week',
  daily: 'day',
}
const PERIOD_NAMES = { day: 'daily', week: 'weekly', month: 'monthly' } as const

const EXAMPLE = { username: 'dock2', credit_type: 'one_time_credit', available: 600, one_time_credit: 500 }
const RECURRING = {
  amount: 100,
  left: 100,
  timeperiod: 'monthly',
  start_date: '2026-02-01',
  end_date: '2026-12-31',
  status: 'active',
}

export const SUBACCOUNT_CREDITS: readonly Operation[] = [
  operation({
    name: 'setSubaccountCredit',
    creates: true,
    summary: "Increase or decrease a subaccount's credit",
    cli: 'subaccount credit',
    group: 'Subaccount',
    scope: 'subaccounts',
    routes: [['/subaccounts/setsubaccountcredit', 'POST']],
    input: Type.Object({
      username: Type.String(),
      action: Type.String({ description: 'increase or decrease' }),
      amount: Amount,
    }),
    answer: CreditDetails,
    errors: ['subaccountUnknown', 'creditInvalid'],
    example: {
      input: { username: 'dock2', action: 'increase', amount: 500 },
      data: { ...EXAMPLE, available: 500, recurring_credit: null },
    },
    act: async ({ username, action, amount }, { core, principal, by }) => {
      if (action !== 'increase' && action !== 'decrease') {
        throw invalidParameter('action', 'must be increase or decrease')
      }
      return { data: shown(await core.subaccounts[action](principal.account.id, username, asNumber(amount), by)) }
    },
  }),
  operation({
    name: 'setRecurringCredit',
    summary: "Set a subaccount's credit per period",
    cli: 'subaccount recurring',
    group: 'Subaccount',
    scope: 'subaccounts',
    routes: [
      ['/setrecurringcreditddetails', 'POST'],
      ['/setrecurringcreditdetails', 'POST'],
      ['/subaccounts/setrecurringcreditddetails', 'POST'],
    ],
    input: Type.Object({
      username: Type.String(),
      recurring_credit: Amount,
      timeperiod: Type.String({ description: 'daily, weekly, monthly or monhtly' }),
      start_date: Day,
      end_date: Day,
      status: Type.Optional(Type.String({ description: 'active or inactive' })),
    }),
    answer: CreditDetails,
    errors: ['subaccountUnknown', 'creditInvalid', 'dateInvalid', 'datesReversed'],
    example: {
      input: {
        username: 'dock2',
        recurring_credit: 100,
        timeperiod: 'monhtly',
        start_date: '2026-02-01',
        end_date: '2026-12-31',
        status: 'active',
      },
      data: { ...EXAMPLE, recurring_credit: RECURRING },
    },
    act: async (input, { core, principal, by }) => {
      const { username, recurring_credit, timeperiod, start_date, end_date, status = 'active' } = input
      const every = Object.hasOwn(PERIODS, timeperiod) ? PERIODS[timeperiod] : undefined
      if (!every) throw invalidParameter('timeperiod', 'must be daily, weekly or monthly')
      if (status !== 'active' && status !== 'inactive') throw invalidParameter('status', 'must be active or inactive')
      const days = { from: String(start_date), until: String(end_date) }
      const recurring = { amount: asNumber(recurring_credit), every, ...days, active: status === 'active' }
      return { data: shown(await core.subaccounts.setRecurring(principal.account.id, username, recurring, by)) }
    },
  }),
  operation({
    name: 'getSubaccountCredit',
    summary: "Show a subaccount's remaining credit",
    cli: 'subaccount credit',
    group: 'Subaccount',
    scope: 'subaccounts',
    routes: [
      ['/subaccounts/getcreditddetails', 'GET', 'POST'],
      ['/subaccounts/getcreditdetails', 'GET', 'POST'],
    ],
    input: Type.Object({ username: Type.String() }),
    answer: CreditDetails,
    errors: ['subaccountUnknown'],
    example: { input: { username: 'dock2' }, data: { ...EXAMPLE, recurring_credit: RECURRING } },
    act: async ({ username }, { core, principal }) => ({
      data: shown(await core.subaccounts.credit(principal.account.id, username)),
    }),
  }),
]

/** Core rejects NaN. */
function asNumber(amount: number | string): number {
  if (typeof amount === 'number') return amount
  return /^\d{1,15}$/.test(amount.trim()) ? Number(amount) : Number.NaN
}

function shown({ username, limited, available, oneTime, recurring }: SubaccountCredit): Static<typeof CreditDetails> {
  return {
    username,
    credit_type: limited ? 'one_time_credit' : 'unlimited',
    available,
    one_time_credit: oneTime,
    recurring_credit: recurring && {
      amount: recurring.amount,
      left: recurring.left,
      timeperiod: PERIOD_NAMES[recurring.every],
      start_date: recurring.from,
      end_date: recurring.until,
      status: recurring.active ? 'active' : 'inactive',
    },
  }
}
