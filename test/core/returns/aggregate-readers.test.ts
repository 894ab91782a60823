import { gzipSync } from 'node:zlib'
import t from 'tap'
import { findReport } from '../../../packages/core/src/returns/aggregate/read/find-report.ts'
import { UnreadableReport } from '../../../packages/core/src/returns/aggregate/read/limits.ts'
import { readDmarc } from '../../../packages/core/src/returns/aggregate/read/read-dmarc.ts'
import { readTls } from '../../../packages/core/src/returns/aggregate/read/read-tls.ts'
import { unpack } from '../../../packages/core/src/returns/aggregate/read/unpack.ts'
import { verifySigner } from '../../../packages/core/src/returns/aggregate/read/verify-signer.ts'
import {
  createSigningKey,
  fastmailReport,
  googleReport,
  gzipped,
  microsoftReport,
  reportMail,
  tlsReport,
  yahooReport,
  zipOf,
} from '../../relay/returns/aggregate-reports.ts'

const domain = 'ship.example'
const rows = [
  { count: 3, signed: [domain, 'pr1'] },
  { ip: '2001:db8::9', count: 2, dkim: 'fail', spf: 'fail' },
] as const
const FORMS = { googleReport, microsoftReport, yahooReport, fastmailReport }
const MUTATIONS = 500

/** A small generator, so that a failure can be repeated. */
function createRandom(seed: number): (below: number) => number {
  let state = seed
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return Math.floor((state / 2 ** 32) * below)
  }
}

const PIECES = [
  '<',
  '>',
  '&',
  '</row>',
  '<record>',
  ']]>',
  '<![CDATA[',
  '<!--',
  '\0',
  '\xff',
  '"',
  '<?x?>',
  '999999999999',
]

function mutated(octets: Buffer, random: (below: number) => number): Buffer {
  const at = random(octets.length)
  const other = random(octets.length)
  const piece = Buffer.from(PIECES[random(PIECES.length)] as string, 'latin1')
  const [head, tail] = [octets.subarray(0, at), octets.subarray(at)]
  const kinds = [
    () => Buffer.concat([head, piece, tail]),
    () => Buffer.concat([head, tail.subarray(random(40))]),
    () => Buffer.concat([head, octets.subarray(Math.min(at, other), Math.max(at, other)), tail]),
    () => Buffer.concat([head, Buffer.from([random(256)]), tail.subarray(1)]),
  ]
  return (kinds[random(kinds.length)] as () => Buffer)()
}

/** Returns whether it was read. Throws unless a failure is one that the thread catches. */
async function isRead(read: () => unknown): Promise<boolean> {
  try {
    await read()
    return true
  } catch (error) {
    if (error instanceof UnreadableReport) return false
    throw error
  }
}

for (const [name, write] of Object.entries(FORMS)) {
  const whole = Buffer.from(write({ domain, rows }))
  t.test(`${name}: every part of it, and mutations, are read or refused, and nothing else is thrown`, async (t) => {
    t.match(readDmarc(whole), {
      domain,
      groups: [
        { count: 3, dkim: true },
        { sourceIp: '2001:db8::9', count: 2, dkim: false },
      ],
    })
    let readParts = 0
    for (let end = 0; end < whole.length; end += 97)
      if (await isRead(() => readDmarc(whole.subarray(0, end)))) readParts++
    t.equal(readParts, 0, 'no part is taken for the whole')
    const random = createRandom(whole.length)
    let read = 0
    for (let count = 0; count < MUTATIONS; count++) if (await isRead(() => readDmarc(mutated(whole, random)))) read++
    t.ok(read > 0 && read < MUTATIONS, `${read} of ${MUTATIONS} read`)
  })
}

t.test('packed reports and TLS reports: the same', async (t) => {
  const json = Buffer.from(JSON.stringify(tlsReport({ domain })))
  const xml = googleReport({ domain, rows })
  t.match(readTls(json), { policies: [{ domain, failed: 303 }] })
  const readers = {
    json: { whole: json, read: (octets: Buffer) => readTls(octets) },
    gzip: {
      whole: gzipSync(xml),
      read: async (octets: Buffer) => readDmarc(await unpack({ packing: 'gzip', octets, fileName: '' })),
    },
    zip: {
      whole: zipOf([xml]),
      read: async (octets: Buffer) => readDmarc(await unpack({ packing: 'zip', octets, fileName: '' })),
    },
  }
  for (const [name, { whole, read }] of Object.entries(readers)) {
    t.ok(await isRead(() => read(whole)), name)
    for (let end = 0; end < whole.length; end += 97)
      t.notOk(await isRead(() => read(whole.subarray(0, end))), `${name} ${end}`)
    const random = createRandom(whole.length)
    for (let count = 0; count < MUTATIONS; count++) await isRead(() => read(mutated(whole, random)))
  }
})

t.test('equal records are added up, and those beyond the largest two thousand without their addresses', async (t) => {
  const equal = readDmarc(Buffer.from(googleReport({ domain, rows: [{ count: 2 }, { count: 5 }] })))
  t.match(equal.groups, [{ count: 7 }])
  t.equal(equal.groups.length, 1)
  const many = Array.from({ length: 3000 }, (_, at) => ({
    ip: `10.2.${at >> 8}.${at & 255}`,
    count: at < 2000 ? 2 : 1,
  }))
  const { groups } = readDmarc(Buffer.from(googleReport({ domain, rows: many })))
  t.equal(groups.length, 2001)
  t.match(groups.at(-1), { sourceIp: null, count: 1000, headerFrom: domain, dkim: true })
})

t.test('a message without leaves has no report', async (t) => {
  t.throws(
    () => findReport({ fields: {} as never, leaves: [] }),
    new UnreadableReport('no-report', 'no attachment that can be a report'),
  )
})

t.test('a signed message that was altered anywhere is verified or not, and nothing is thrown', async (t) => {
  const key = createSigningKey('google.com')
  const keys = new Map(Object.entries(key.zones).map(([host, { txt = [] }]) => [host, txt] as const))
  const whole = await key.sign(reportMail(gzipped(googleReport({ domain }))))
  const claimed = ['google.com']
  t.equal(await verifySigner({ raw: whole, keys, claimed }), 'google.com')
  t.equal(await verifySigner({ raw: whole, keys, claimed: ['evil.example', ''] }), undefined)
  const random = createRandom(whole.length)
  let verified = 0
  for (let count = 0; count < MUTATIONS; count++) {
    const head = whole.subarray(0, 900)
    const raw = Buffer.concat([mutated(head, random), whole.subarray(900)])
    if (await verifySigner({ raw, keys, claimed })) verified++
  }
  t.ok(verified < MUTATIONS / 2, `${verified} of ${MUTATIONS} verified`)
  for (const record of ['', 'v=DKIM1', 'v=DKIM1; p=', 'v=DKIM1; p=AAAA', `v=DKIM1; k=${'x'.repeat(4000)}; p=é`])
    t.equal(
      await verifySigner({ raw: whole, keys: new Map([['s1._domainkey.google.com', [record]]]), claimed }),
      undefined,
    )
})
