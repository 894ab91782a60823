import t from 'tap'
import {
  addArrayTypes,
  parseArray,
  serializeArray,
} from '../../../../packages/core/src/platform/database/driver/array-types.ts'

t.test('the text of an array is parsed, with quotes, nulls and arrays in it', async (t) => {
  t.strictSame(parseArray('{}'), [])
  t.strictSame(parseArray('{1,2,NULL}', Number), [1, 2, null])
  t.strictSame(parseArray('{a,"b, \\"c\\" {d}","e\\\\","","NULL",NULL}'), ['a', 'b, "c" {d}', 'e\\', '', 'NULL', null])
  t.strictSame(parseArray('{{1,2},{3,NULL}}', Number), [
    [1, 2],
    [3, null],
  ])
})

t.test('an array is written as text that Postgres parses back, whatever is in it', async (t) => {
  t.equal(serializeArray([]), '{}')
  t.equal(serializeArray([1, null, -2.5]), '{"1",null,"-2.5"}')
  t.equal(serializeArray([['a'], ['b']]), '{{"a"},{"b"}}')
  t.equal(serializeArray([{ a: 1 }], JSON.stringify), '{"{\\"a\\":1}"}')
  t.equal(serializeArray([1, [2]], JSON.stringify), '{"1","[2]"}', 'an array is a value of JSON, too')
  t.equal(serializeArray('{1}'), '{1}', 'a text is an array already')
  for (const text of ['', 'NULL', '"', '\\', '{,}', 'é\\"', '"\\é'.repeat(5000)])
    t.strictSame(parseArray(serializeArray([text, 'next']) as string), [text, 'next'])
  t.throws(() => serializeArray([undefined]), /undefined/)
})

t.test('the elements of arrays are read and written like single values', async (t) => {
  const parsers: Record<number, (text: string) => unknown> = { 16: (text) => text === 't' }
  const serializers: Record<number, (value: unknown) => unknown> = { 16: (value) => (value ? 't' : 'f') }
  addArrayTypes({ parsers, serializers })
  t.strictSame(parsers[1000]?.('{t,f}'), [true, false])
  t.equal(serializers[1000]?.([true, false]), '{"t","f"}')
  t.strictSame(parsers[1009]?.('{t,f}'), ['t', 'f'])
})
