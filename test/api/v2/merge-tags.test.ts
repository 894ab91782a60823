import t from 'tap'
import { makeArrivals } from '../arrivals.ts'

const { deliver } = await makeArrivals(t)
const one = (element: Record<string, unknown>) => ({
  personalizations: [{ recipient: 'lena@harbor.example', ...element }],
})

const MERGES: readonly (readonly [what: string, text: string, attributes: Record<string, unknown>, merged: string])[] =
  [
    ['spaces inside a tag are allowed', '[% NAME %]', { NAME: 'Ada' }, 'Ada'],
    ['the exact name wins', '[%name%] [%NAME%]', { NAME: 'Ada', name: 'ada' }, 'ada Ada'],
    ['a name matches whatever its case', '[%Name%]', { nAME: 'Ada' }, 'Ada'],
    ['a missing attribute is empty', '<[%NONE%]>', { NAME: 'Ada' }, '<>'],
    ['an attribute that is null is empty', '<[%NAME%]>', { NAME: null }, '<>'],
    ['numbers and truth values are written out', '[%n%] [%t%]', { n: 4.5, t: true }, '4.5 true'],
    ['values are not expanded again', '[%A%]', { A: '[%B%]', B: 'x' }, '[%B%]'],
    ['values go in as they are', '[%A%]', { A: '<b>&amp;"$&$1' }, '<b>&amp;"$&$1'],
    ['names may have dots, dashes, digits', '[%a.b-c_1%]', { 'a.b-c_1': 'x' }, 'x'],
    ["names of an object's own are names like any", '[%constructor%][%toString%]', { toString: 'x' }, 'x'],
    ['what only looks like a tag stays', '[%a b%] [%%] [a] 50% [%', { a: 'x' }, '[%a b%] [%%] [a] 50% [%'],
  ]
for (const [what, text, attributes, merged] of MERGES) {
  t.test(`merge tags: ${what}`, async (t) => {
    const copy = await deliver({ ...one({ attributes }), subject: `S ${text}`, content: `C ${text}` })
    t.equal(copy.mail.subject, `S ${merged}`)
    t.equal(copy.mail.html, `C ${merged}`)
  })
}

const CONTENTS: readonly (readonly [what: string, content: string, html: string])[] = [
  ['URL-encoded content is decoded (E5)', '%3Cp%3EHi%20%5B%25NAME%25%5D%3C%2Fp%3E', '<p>Hi Ada</p>'],
  ['a plus is a space in URL-encoded content', '%3Cp%3EHi+there%3C%2Fp%3E', '<p>Hi there</p>'],
  ['content with raw brackets stays as it is (E6)', 'Save 50%20 today <b>now</b>', 'Save 50%20 today <b>now</b>'],
  ['content with white space stays as it is', 'a%20b c', 'a%20b c'],
  ['content with an invalid escape stays as it is', 'a%20b%zz', 'a%20b%zz'],
  ['content whose escapes are not UTF-8 stays as it is', 'a%20b%ff', 'a%20b%ff'],
  ['a plus alone is a plus', '1+1=2', '1+1=2'],
]
for (const [what, content, html] of CONTENTS) {
  t.test(what, async (t) => {
    t.equal((await deliver({ ...one({ attributes: { NAME: 'Ada' } }), content })).mail.html, `${html}`)
  })
}
