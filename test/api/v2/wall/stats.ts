import { countAll } from '../../../core/reporting/statistics/happen.ts'
import { acceptMessage } from '../../../core/submission.ts'
import type { Caller, Setting, Wall } from './entry.ts'

const today = new Date().toISOString().slice(0, 10)

/** Mail with a tag that is nobody else's, to a site that is nobody else's. */
async function send({ service }: Setting, owner: Caller, mark: string): Promise<string> {
  await acceptMessage(service, { ...owner, accountName: '' }, { tags: [mark] })
  await countAll(service)
  return mark
}

export const stats: Wall = {
  getStats: {
    kind: 'list',
    async make(setting, owner) {
      await send(setting, owner, 'walled')
      return owner.domain
    },
    input: { startdate: today, by: 'domain' },
  },
  listTags: { kind: 'list', make: (setting, owner) => send(setting, owner, 'walled-tag') },
  getTagStats: {
    kind: 'list',
    make: (setting, owner) => send(setting, owner, 'walled-tag-stats'),
    input: { startdate: today },
  },
  getTagSums: {
    kind: 'list',
    make: (setting, owner) => send(setting, owner, 'walled-tag-sums'),
    input: { startdate: today },
  },
}
