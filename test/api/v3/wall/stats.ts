import { countAll, happen } from '../../../core/reporting/statistics/happen.ts'
import { acceptMessage, envelopeTo } from '../../../core/submission.ts'
import type { Caller, Setting, Wall } from './entry.ts'

const today = new Date().toISOString().slice(0, 10)

/** Mail of a category that is nobody else's. */
async function send({ service }: Setting, owner: Caller, mark: string): Promise<string> {
  await acceptMessage(service, { ...owner, accountName: '' }, { tags: [mark] })
  await countAll(service)
  return mark
}

export const stats: Wall = {
  getStats: {
    kind: 'list',
    async make({ service, act }, owner) {
      await happen(service, owner.accountId, { type: 'complained' })
      await countAll(service)
      const [day] = (await act(owner, 'getStats', { query: { start_date: today } })) as {
        stats: { metrics: { spam_reports: number } }[]
      }[]
      // Nobody else was complained about.
      return `"spam_reports":${day?.stats[0]?.metrics.spam_reports}`
    },
    input: { query: { start_date: today } },
  },
  getMailboxProviderStats: {
    kind: 'list',
    async make({ service }, owner) {
      const to = { envelopes: [envelopeTo('lena@icloud.com')] }
      const { messageId } = await acceptMessage(service, { ...owner, accountName: '' }, to)
      await happen(service, owner.accountId, { type: 'sent', messageId, detail: {} })
      await countAll(service)
      return '"Apple"'
    },
    input: { query: { start_date: today } },
  },
  listCategories: { kind: 'list', make: (setting, owner) => send(setting, owner, 'walled-list') },
  getCategoryStats: {
    kind: 'object',
    async make(setting, owner) {
      await send(setting, owner, 'walled-stats')
      return { query: { start_date: today, categories: 'walled-stats' } }
    },
    missing: { query: { start_date: today, categories: 'of nobody' } },
    seen: (input) => ['getCategoryStats', input],
  },
  getCategorySums: {
    kind: 'list',
    make: (setting, owner) => send(setting, owner, 'walled-sums'),
    input: { query: { start_date: today, limit: 100 } },
  },
}
