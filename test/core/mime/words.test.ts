import { decodeWords } from '@postrider/core'
import t from 'tap'

const DECODED: readonly [written: string, meant: string][] = [
  ['Berth 4', 'Berth 4'],
  ['=?UTF-8?Q?=C3=9Cber?=\r\n =?UTF-8?Q?fahrt?=', 'Überfahrt'],
  ['=?ISO-8859-1?Q?=DCberfahrt?=', 'Überfahrt'],
  ['a =?utf-8?B?w5w=?= b', 'a Ü b'],
  ['=?utf-8?Q?=C3?= =?utf-8?B?nA==?=', 'Ü'],
  ['=?utf-8?Q?a?= x =?utf-8?Q?b?=', 'a x b'],
  ['=?utf-8*en?Q?a_b?= =?koi8-r?Q?=C1?=', 'a bа'],
  ['=?gb18030?B?1tA=?=', '中'],
  ['=?iso-2022-jp?B?GyRCRnxLXBsoQg==?=', '日本'],
  ['=?x-none?Q?a?=', '=?x-none?Q?a?='],
  ['=?utf-8?Q?a=3?=', 'a=3'],
  ['=?=?utf-8?Q?b?=', '=?b'],
  ['=?utf-8?Q?no end', '=?utf-8?Q?no end'],
]

for (const [written, meant] of DECODED) {
  t.test(`${JSON.stringify(written)} means ${JSON.stringify(meant)}`, async (t) => {
    t.equal(decodeWords(written), meant)
  })
}

const COSTLY: readonly [what: string, text: string][] = [
  ['empty words', '=?utf-8?Q??= '.repeat(40_000)],
  ['words in charsets nobody knows', Array.from({ length: 40_000 }, (_, at) => `=?x${at}?Q?a?=`).join(' ')],
  ['beginnings', '=?'.repeat(250_000)],
  ['words without end', '=?utf-8?Q?'.repeat(50_000)],
  ['blanks between two words', `=?utf-8?Q?a?=${' '.repeat(500_000)}=?utf-8?Q?a?=`],
]

for (const [what, text] of COSTLY) {
  t.test(`half a megabyte of ${what} is decoded soon`, async (t) => {
    const before = process.cpuUsage()
    decodeWords(text)
    const { user, system } = process.cpuUsage(before)
    t.ok(user + system < 250_000, `${(user + system) / 1000} ms`)
  })
}
