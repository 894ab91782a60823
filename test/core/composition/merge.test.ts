import t from 'tap'
import { type Attributes, renderMergeTags } from '../../../packages/core/src/composition/merge.ts'
import { ownCpu } from '../../helpers/turns.ts'

const NAMES: Attributes = { NAME: 'Lena', name: 'lena', City: 'Kiel', 'a.b-c_1': 'dotted', EMPTY: '', n: '7' }

/** v2 contract section 5.1. */
const CASES: readonly (readonly [text: string, rendered: string, why: string])[] = [
  ['Dear [%NAME%],', 'Dear Lena,', 'a tag'],
  ['[% NAME %] [%\tNAME\n%]', 'Lena Lena', 'blanks inside'],
  ['[%NAME%][%name%]', 'Lenalena', 'the exact name first'],
  ['[%CITY%] [%city%] [%City%]', 'Kiel Kiel Kiel', 'then whatever the case'],
  ['[%a.b-c_1%] [%A.B-C_1%]', 'dotted dotted', 'dots, hyphens, underscores and digits'],
  ['<[%MISSING%]>', '<>', 'a missing attribute is empty'],
  ['<[%EMPTY%]>', '<>', 'an empty one too'],
  ['[%NAME%', '[%NAME%', 'an open tag stays'],
  [
    '[%%] [% %] [%a b%] [%\u00e4%] [NAME] %NAME% {{NAME}} [ %NAME% ]',
    '[%%] [% %] [%a b%] [%\u00e4%] [NAME] %NAME% {{NAME}} [ %NAME% ]',
    'what is no tag stays',
  ],
  ['[%[%NAME%]%]', '[%Lena%]', 'no tag in a tag'],
  ['100 % [n] [%n%]', '100 % [n] 7', 'percent signs stay'],
  ['[%constructor%][%__proto__%][%toString%][%hasOwnProperty%]', '', 'only own attributes count'],
]

for (const [text, rendered, why] of CASES) {
  t.test(`merging ${JSON.stringify(text)}: ${why}`, async (t) => {
    t.equal(renderMergeTags(text, NAMES), rendered)
  })
}

t.test('values go in as they are and are not expanded again', async (t) => {
  const values = ['<b>&amp;"', '[%NAME%]', '$& $1 $$ $`', '%]', '[%', '\r\n', '\u0000', '\ud83d\udea2']
  for (const value of values) t.equal(renderMergeTags('[%V%]', { V: value, NAME: 'Lena' }), value)
})

t.test('an attribute called __proto__ is an attribute like any other', async (t) => {
  const attributes = JSON.parse('{"__proto__":"mine","constructor":"too"}') as Attributes
  t.equal(renderMergeTags('[%__proto__%] [%constructor%]', attributes), 'mine too')
  t.equal(({} as { polluted?: unknown }).polluted, undefined)
})

t.test('merging takes time linear in the text, whatever the text', async (t) => {
  for (const piece of ['[%', '[% ', '[%a', '[%a ', '%]', '[', '[%NAME%]', ' ']) {
    const time = (length: number): number => {
      const text = `[%${piece.repeat(length / piece.length)}`
      const start = ownCpu()
      renderMergeTags(text, NAMES)
      return ownCpu() - start
    }
    time(10_000)
    t.ok(time(400_000) < 500, JSON.stringify(piece))
  }
})
