import { readFileSync } from 'node:fs'
import t from 'tap'
import { BREAKS } from './breaks.ts'

t.test('what test:broken breaks is still there to be broken', async (t) => {
  for (const { name, file, find, journey } of BREAKS) {
    const source = readFileSync(new URL(`../../${file}`, import.meta.url), 'utf8')
    t.equal(source.split(find).length, 2, `${name}: ${file} has it once`)
    t.ok(readFileSync(new URL(`../../${journey}`, import.meta.url), 'utf8').includes('.test('), journey)
  }
})
