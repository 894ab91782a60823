import { OPERATOR, shortMessageId } from '@postrider/core'
import { acceptMessage } from '../../../core/submission.ts'
import type { Caller, Setting, Wall, WallEntry } from './entry.ts'

let made = 0

async function makeMember({ service }: Setting, { accountId }: Caller): Promise<string> {
  const email = `wall${++made}@team.example`
  const { people } = service.core
  const id = await people.users.create({ name: 'Wall', email }, OPERATOR)
  await people.members.add(accountId, id, 'viewer', OPERATOR)
  return email
}

async function makeMessage({ service }: Setting, owner: Caller): Promise<{ subject: string; msg_id: string }> {
  const subject = `Walled ${++made}`
  const { messageId } = await acceptMessage(service, { ...owner, accountName: '' }, { subject })
  return { subject, msg_id: shortMessageId(messageId) }
}

/** Pools are the operator's: everybody sees them, and a stranger's call changes nothing. */
function ofEverybody(params: Readonly<Record<string, string>>): WallEntry {
  return {
    kind: 'own',
    async make({ service }) {
      const { sources } = service.core
      const name = 'walled'
      if ((await sources.read()).pools.some((pool) => pool.name === name)) return
      await sources.addPool(name, {})
      await sources.add({ name, pool: name, address: '127.0.0.9', helo: 'walled.example' } as never)
    },
    input: { params },
    seen: ['listIps', {}],
    unseen: 'it changes nothing',
  }
}

export const accountPaths: Wall = {
  listTeammates: { kind: 'list', make: makeMember },
  viewTeammate: {
    kind: 'object',
    make: async (setting, owner) => ({ params: { username: await makeMember(setting, owner) } }),
    missing: { params: { username: 'nobody@team.example' } },
    seen: () => ['listTeammates', {}],
  },
  listPendingTeammates: {
    kind: 'list',
    async make({ service }, { accountId }) {
      const email = `wall${++made}@team.example`
      await service.core.people.invitations.create(accountId, { email, role: 'viewer' }, OPERATOR)
      return email
    },
  },
  searchMessages: { kind: 'list', make: async (setting, owner) => (await makeMessage(setting, owner)).subject },
  viewMessage: {
    kind: 'object',
    make: async (setting, owner) => ({ params: { msg_id: (await makeMessage(setting, owner)).msg_id } }),
    missing: { params: { msg_id: 'AAAAAAAAAAAAAAAAAAAAAA' } },
    seen: (input) => ['viewMessage', input],
  },
  listIps: ofEverybody({}),
  listAssignedIps: ofEverybody({}),
  listIpPools: ofEverybody({}),
  viewIp: ofEverybody({ ip_address: '127.0.0.9' }),
  viewIpPool: ofEverybody({ pool_name: 'walled' }),
  // They tell of nothing that belongs to an account, or of the calling key.
  listAlerts: { kind: 'none' },
  listAllowedIps: { kind: 'none' },
  listAccessAttempts: { kind: 'none' },
  validateAddress: { kind: 'none', input: { body: { email: 'lena@harbor.example' } } },
  ...Object.fromEntries(
    ['Devices', 'Clients', 'Browsers', 'Geo'].map((noun): [string, WallEntry] => [
      `get${noun}Stats`,
      { kind: 'none', input: { query: { start_date: '2026-01-05' } } },
    ]),
  ),
}
