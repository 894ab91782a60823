import t from 'tap'
import { search } from './search.ts'

/**
 * A parser that takes 110 ms of processor time for 8,000 blanks in a row, and nothing for other text. A pattern that really is quadratic
 * takes a little more or less than the limit once the text is small, so that other work of the machine decides how far it is shrunk.
 */
const STUMBLES = {
  name: 'blanks',
  words: [' ', 'a'],
  read: (text: string) => {
    if (!text.includes(' '.repeat(8000))) return
    const spent = ({ user, system } = process.threadCpuUsage()) => (user + system) / 1000
    const until = spent() + 110
    while (spent() < until);
  },
}

t.test('the search for slow inputs finds one, and makes it small', async (t) => {
  const [found] = [...search(60, 1, [STUMBLES])]
  if (!found || !('pieces' in found)) return t.fail('nothing was found')
  t.ok(found.ms >= 100 && found.octets < 9000, `${found.ms} ms, ${JSON.stringify(found.pieces)}`)
})

t.test('it finds nothing in the parsers, in the few seconds it has here', async (t) => {
  for (const result of search(8, 20_261_122)) t.notOk('pieces' in result, JSON.stringify(result))
})
