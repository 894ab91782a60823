import { readFileSync } from 'node:fs'
import t from 'tap'
import { CONFORMANCE_PAGE, conformancePage, proofs } from '../../helpers/conformance-page.ts'
import { OPERATION_ROWS, ROWS } from './conformance/rows.ts'

const rows = [...ROWS, ...OPERATION_ROWS]
const known = proofs()

t.test('every row of the conformance page is proved by a test, except pending ones', async (t) => {
  t.strictSame(
    rows.filter(({ id, pending }) => !pending && !known.has(id)).map(({ id }) => id),
    [],
  )
  t.strictSame(
    rows.filter(({ id, pending }) => pending && known.has(id)).map(({ id }) => id),
    [],
    'a proved row is not pending',
  )
})

t.test('no test proves an unknown row, and ids are unique', async (t) => {
  const ids = rows.map(({ id }) => id)
  t.strictSame(
    [...known.keys()].filter((id) => !ids.includes(id)),
    [],
  )
  t.equal(new Set(ids).size, ids.length)
})

t.test('docs/v3-conformance.md is generated from the rows and the tests', async (t) => {
  t.equal(readFileSync(CONFORMANCE_PAGE, 'utf8'), conformancePage(), 'run npm run docs')
})
