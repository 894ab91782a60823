import { readFileSync } from 'node:fs'
import t from 'tap'
import { makeService } from '../helpers/service.ts'
import { startMeasured } from '../hostile/measured.ts'
import { call, FORM } from './call.ts'

const service = await makeService(t)
const sender = await service.makeSender()
const base = `http://127.0.0.1:${service.config.apiPort}`
const headers = { api_key: sender.apiKey, ...FORM }
/** MiB that may remain of a call whose values took 140. */
const REMAINDER = 60
/** V8 itself returns them after 8 s without work. */
const WITHIN_MS = 5000

t.test('memory of a large call is returned to the system when the call has ended', async (t) => {
  const api = await startMeasured('api', service.env)
  t.teardown(() => api.kill())
  const send = (body: string) => call(base, { path: '/v2/sendEmail', headers, body })
  await send(`content=${'a'.repeat(5 * 1024 * 1024)}`)
  await api.forget(WITHIN_MS)
  const before = resident(api.pid)
  const values = Array.from({ length: 199_000 }, (_, at) => `personalizations[${at % 10_000}][attributes][a${at}]=v`)
  t.equal((await send(values.join('&'))).status, 400)
  t.ok(api.peak() > before + 2 * REMAINDER, `the call took memory: ${before}, at most ${api.peak()} MiB`)
  const deadline = performance.now() + WITHIN_MS
  while (resident(api.pid) > before + REMAINDER && performance.now() < deadline) {
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
  const after = resident(api.pid)
  t.ok(after <= before + REMAINDER, `${before.toFixed(0)} MiB before, ${after.toFixed(0)} MiB after`)
})

/** MiB in memory now. */
function resident(pid: number): number {
  return Number(/^VmRSS:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1024
}
