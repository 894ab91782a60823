import { numberEvents } from '../../../helpers/number-events.ts'
import type { Caller, Input, Setting, Wall } from './entry.ts'

/** Asked for at the core, where no callback is asked whether it is there. */
async function make({ service }: Setting, { accountId, domain }: Caller): Promise<Input> {
  // So that there is always room for one more.
  await service.sql`delete from export_jobs where account_id = ${accountId}`
  const wanted = { startDate: '2026-01-01', endDate: '2026-01-05', events: [], callbackUrl: undefined }
  const { id } = await service.core.exports.create(
    accountId,
    { ...wanted, format: 'json', email: `desk@${domain}` },
    { keyId: null, address: null },
  )
  return { jobId: id }
}

const missing = { jobId: 'exp_999999' }
const seen = ({ jobId }: Input) => ['showExport', { jobId }] as const

export const exports: Wall = {
  createExport: {
    kind: 'own',
    make,
    input: { startdate: '2026-01-01', email: 'thief@harbor.example' },
    seen: ['listExports', {}],
  },
  streamEvents: {
    kind: 'list',
    async make({ service }, { accountId }) {
      const url = `https://ship.example/of-${accountId}`
      await service.sql`
        insert into events (occurred_at, account_id, type, detail)
        values (service_now(), ${accountId}, 'clicked', ${JSON.stringify({ url })}::text::jsonb)`
      await numberEvents(service)
      return url
    },
    input: { startdate: new Date(Date.now() - 86_400_000).toISOString().slice(0, 10) },
  },
  listExports: { kind: 'list', make: async (setting, owner) => String((await make(setting, owner)).jobId) },
  showExport: { kind: 'object', make, missing, seen },
  downloadExport: {
    kind: 'object',
    async make(setting, owner) {
      const input = await make(setting, owner)
      while (await setting.service.core.exports.workSome());
      return input
    },
    missing,
    seen,
  },
}
