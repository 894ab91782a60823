import t from 'tap'
import { createHitLimit } from '../../../packages/core/src/tracking/hit-limit.ts'

const LIMIT = 100
const hit = { messageId: '0198a1b2c3d47e5f8091a2b3c4d5e6f7', recipientNo: 0, kind: 'clicked', machine: null } as const

t.test('what a delivery may have stored begins again with the next minute', (t) => {
  let now = 0
  const isWithin = createHitLimit(() => now)
  const stored = () => Array.from({ length: LIMIT + 20 }, () => isWithin(hit)).filter(Boolean).length
  t.equal(stored(), LIMIT)
  t.equal(isWithin({ ...hit, recipientNo: 1 }), true, 'another recipient has its own')
  now = 59_999
  t.equal(stored(), 0)
  now = 60_000
  t.equal(stored(), LIMIT)
  t.end()
})

t.test('what is counted has a bound: beyond it, counting begins again', (t) => {
  const isWithin = createHitLimit(() => 0)
  for (let count = 0; count < LIMIT; count++) isWithin(hit)
  t.equal(isWithin(hit), false)
  for (let recipientNo = 1; recipientNo <= 50_000; recipientNo++) isWithin({ ...hit, recipientNo })
  t.equal(isWithin(hit), true)
  t.end()
})
