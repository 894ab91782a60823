import { parseScheduleTime } from '@postrider/core'
import t from 'tap'

const read = (text: string, zone = 'Europe/Berlin') => {
  const found = parseScheduleTime(text, zone)
  return 'problem' in found ? found.problem : found.at.toISOString()
}

t.test('a time has an offset, a zone, or else that of the account', async (t) => {
  const eight = '2026-12-24T08:00:00.000Z'
  for (const text of [
    '2026-12-24T08:00:00Z',
    '2026-12-24t08:00z',
    '2026-12-24T09:00:00+01:00',
    '2026-12-24T09:00+0100',
    '2026-12-24T09:00:00[Europe/Berlin]',
    '2026-12-24 09:00',
    '2026-12-24T09:00:00+01:00[Europe/Berlin]',
    '2026-12-24T09:00:00.000+01:00[!Europe/Berlin][u-ca=gregory]',
    '2026-12-24T13:30:00[Asia/Kolkata]',
    '2026-12-24T13:30:00[+05:30]',
    // Z says that the local offset is unknown (RFC 9557 2.2).
    '2026-12-24T08:00:00Z[Asia/Kolkata]',
    '1798099200',
  ])
    t.equal(read(text), eight, text)
  t.equal(read('2026-12-24T09:00:00', 'Asia/Kolkata'), '2026-12-24T03:30:00.000Z')
  t.equal(read('2026-12-24T09:00:00.123456789Z'), '2026-12-24T09:00:00.123Z')
})

t.test('clocks that are put back and forward', async (t) => {
  t.equal(read('2026-10-25T02:30:00'), '2026-10-25T00:30:00.000Z', 'the first of two')
  t.equal(read('2026-10-25T02:30:00+01:00[Europe/Berlin]'), '2026-10-25T01:30:00.000Z', 'the offset names the second')
  t.match(read('2026-03-29T02:30:00'), 'does not exist in Europe/Berlin')
  t.equal(read('2026-03-29T03:30:00'), '2026-03-29T01:30:00.000Z')
  t.equal(read('2026-06-01T00:00:00', 'Pacific/Kiritimati'), '2026-05-31T10:00:00.000Z')
})

t.test('what is wrong with a text is said', async (t) => {
  t.match(read('2026-12-24T09:00:00+02:00[Europe/Berlin]'), 'an offset that Europe/Berlin does not have')
  t.match(read('2026-12-24T09:00:00[Europe/Atlantis]'), 'unknown time zone: [Europe/Atlantis]')
  t.match(read('2026-12-24T09:00:00[Europe/Berlin][!u-ca=hebrew]'), 'not supported: [!u-ca=hebrew]')
  t.match(read('2026-02-31T09:00:00Z'), 'does not exist')
  t.match(read('2026-12-24T24:00:00Z'), 'does not exist')
  t.match(read('2026-12-24T09:00:00+24:00'), 'offset that does not exist')
  for (const text of ['', 'tomorrow', '2026-12-24', '24.12.2026 09:00', `2026-12-24T09:00:00${'[x]'.repeat(200)}`])
    t.match(read(text), 'must be a time like', text.slice(0, 40))
})
