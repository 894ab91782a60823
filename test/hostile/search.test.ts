import t from 'tap'
import { search } from './search.ts'

t.test('the search for slow inputs finds one, and makes it small', async (t) => {
  const quadratic = { name: 'blanks', words: [' ', 'a'], read: (text: string) => /\s+$/.test(text.slice(0, 24_000)) }
  const [found] = [...search(60, 1, [quadratic])]
  if (!found || !('pieces' in found)) return t.fail('nothing was found')
  t.ok(found.ms >= 50 && found.octets < 24_000, `${found.ms} ms, ${JSON.stringify(found.pieces)}`)
})

t.test('it finds nothing in the parsers, in the few seconds it has here', async (t) => {
  for (const result of search(8, 20_261_122)) t.notOk('pieces' in result, JSON.stringify(result))
})
