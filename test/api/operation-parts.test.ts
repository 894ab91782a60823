import t from 'tap'
import { missingParts } from './operation-parts.ts'

t.test('each operation has its parts: a test, a page, an entry of the wall, and a call if it reads', async (t) => {
  t.strictSame(missingParts(), [])
})
