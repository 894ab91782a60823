import { type Core, OPERATOR, ROLES } from '@postrider/core'
import {
  type Call,
  type Command,
  CommandError,
  requiredWord,
  textOption,
  UsageError,
  wholeOption,
} from '../../command.ts'
import { makeFirstLink } from '../../first-run.ts'
import { table } from '../../table.ts'
import { coreCommand } from '../core-command.ts'

const NONE = 'none'

const add: Command = coreCommand({
  name: 'user add',
  usage: 'EMAIL --name NAME [--account ID --role ROLE] [--operator]',
  summary: 'Add a user of the dashboard, and print a link for their password',
  parameters: {
    name: 'Name of the user',
    role: `Role in the account: ${ROLES.join(', ')}`,
    operator: 'Let the user see every account and the installation',
  },
  examples: ['user add lena@harbor.example --name Lena --account 12 --role developer'],
  prepare: ({ EMAIL: email, name, operator: isOperator }, call) => {
    const membership = membershipOf(call)
    if (!membership && !isOperator) throw new UsageError('missing option --account with --role, or --operator')
    return async ({ people }) => {
      const userId = await people.users.create({ name, email, membership, isOperator }, OPERATOR)
      const { url, expiresAt } = await people.passwordReset.link(userId)
      return { data: { userId, url, expiresAt }, text: `user ${userId}\nset the password (once): ${url}` }
    }
  },
})

const FORMER = {
  first: 'links printed before no longer work',
  reset: 'links printed before still work, until one is used',
} as const

const link: Command = coreCommand({
  name: 'user link',
  usage: '[EMAIL]',
  summary: 'Print a link for a new password, or for the first user',
  detail: 'With an address, the link sets a new password of this user; without, it makes the first user',
  run: async (core, { EMAIL: email }, call) => {
    const made = email
      ? await core.people.passwordReset.link(await idOf(core, email))
      : await makeFirstLink(core, call.config)
    if (!made)
      throw new CommandError('there is an operator already; use postrider user link EMAIL, or postrider user add')
    return {
      data: made,
      text: `${made.url} (works once, until ${made.expiresAt.toISOString()}; ${email ? FORMER.reset : FORMER.first})`,
    }
  },
})

const list: Command = coreCommand({
  name: 'user list',
  usage: '',
  summary: 'List all users of the dashboard with their roles',
  run: async ({ people }) => {
    const users = await people.users.list()
    const rows = users.map((user) => [
      user.id,
      user.name,
      user.email,
      user.disabled ? 'disabled' : 'active',
      user.secondFactor ? 'yes' : 'no',
      user.lastSeenAt ?? 'never',
      [...(user.operator ? ['operator'] : []), ...user.roles].join(', '),
    ])
    return { data: users, text: table(['id', 'name', 'email', 'state', '2fa', 'last seen', 'roles'], rows) }
  },
})

const role: Command = {
  name: 'user role',
  usage: 'EMAIL --account ID --role ROLE | --operator on|off',
  summary: "Set a user's role in an account, or whether they are an operator",
  parameters: {
    role: `${ROLES.join(', ')}; none removes the user from the account`,
    operator: 'Whether the user may see every account and the installation',
  },
  examples: ['user role lena@harbor.example --account 12 --role owner'],
  run: (call) => {
    const email = requiredWord(call, 'email address')
    const membership = membershipOf(call)
    const operator = textOption(call, 'operator')
    if (operator !== undefined && operator !== 'on' && operator !== 'off') {
      throw new UsageError(`--operator must be on or off (got "${operator}")`)
    }
    if ((membership === undefined) === (operator === undefined)) {
      throw new UsageError('give either --account with --role, or --operator')
    }
    return call.withCore(async (core) => {
      const id = await idOf(core, email)
      if (membership) await setRole(core, id, membership)
      else if (operator === 'on') await core.people.operators.add(id, OPERATOR)
      else await core.people.operators.remove(id, OPERATOR)
      const what = membership ? `${membership.role} in account ${membership.accountId}` : `operator: ${operator}`
      return { data: { userId: id, ...membership, operator }, text: `user ${id}: ${what}` }
    })
  },
}

export const userCommands: readonly Command[] = [
  add,
  link,
  list,
  role,
  change('disable', 'Refuse log-ins of a user and end their sessions', 'disabled', ({ people }, id) =>
    people.users.disable(id, OPERATOR),
  ),
  change('enable', 'Allow log-ins of a disabled user', 'enabled', ({ people }, id) =>
    people.users.enable(id, OPERATOR),
  ),
  change(
    'reset-2fa',
    'Remove the one-time codes, recovery codes and passkeys of a user who lost them, and end their sessions',
    'without second factor',
    ({ people }, id) => people.users.resetSecondFactor(id, OPERATOR),
  ),
]

interface Membership {
  readonly accountId: number
  readonly role: string
}

function change(verb: string, summary: string, state: string, fn: (core: Core, id: number) => Promise<void>): Command {
  return coreCommand({
    name: `user ${verb}`,
    ...(verb === 'reset-2fa' ? { destroys: true } : {}),
    usage: 'EMAIL',
    summary,
    look: (core, { EMAIL: email }) => idOf(core, email),
    run: async (core, { EMAIL: email }) => {
      const userId = await idOf(core, email)
      await fn(core, userId)
      return { data: { userId, state }, text: `user ${userId} is ${state}` }
    },
  })
}

/** Adds, changes or removes a member. */
async function setRole({ people }: Core, userId: number, { accountId, role }: Membership): Promise<void> {
  const isMember = (await people.members.list(accountId)).some((member) => member.userId === userId)
  if (role === NONE) await people.members.remove(accountId, userId, OPERATOR)
  else if (isMember) await people.members.change(accountId, userId, role, OPERATOR)
  else await people.members.add(accountId, userId, role, OPERATOR)
}

/** Throws {@link UsageError}. */
function membershipOf(call: Call): Membership | undefined {
  const accountId = wholeOption(call, 'account')
  const role = textOption(call, 'role')
  if (accountId === undefined && role === undefined) return undefined
  if (accountId === undefined || role === undefined) throw new UsageError('--account and --role must be given together')
  return { accountId, role }
}

/** Throws {@link CommandError}. */
async function idOf({ people }: Core, email: string): Promise<number> {
  const id = await people.users.find(email)
  if (id === undefined) throw new CommandError(`user ${email} not found`)
  return id
}
