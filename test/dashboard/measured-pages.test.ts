import t from 'tap'
import type { Known } from '../../bench/growth/call.ts'
import { pageVisits, unvisited } from '../../bench/growth/pages.ts'

t.test('each page of the dashboard is measured with ten million messages, or reads nothing that grows', async (t) => {
  const known: Known = {
    day: () => '2026-01-01',
    daySeconds: () => 0,
    subaccount: '',
    message: '',
    sent: '',
    last: 0,
    jobId: '',
    webhook: '',
    webhookRequest: '',
    editableWebhook: '',
    template: 0,
    legacy: '',
    version: '',
    batch: '',
    keyId: '',
  }
  const visits = pageVisits(known)
  t.strictSame(unvisited(visits), [])
  t.strictSame(unvisited(visits.filter(({ route }) => route !== '/audit')), ['/audit'])
})
