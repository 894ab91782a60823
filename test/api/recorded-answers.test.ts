import { existsSync, readFileSync } from 'node:fs'
import { V3_OPERATIONS } from '@postrider/api'
import t from 'tap'
import { calledBy, NAMES } from './recorded/called.ts'
import { recordAnswers } from './recorded-answers.ts'

/** Differences that are shown of each part. */
const SHOWN = 5

const parts = await recordAnswers(t)
const calls = parts.flatMap(({ calls }) => calls)

for (const { file, text } of parts) {
  const name = file.slice(file.lastIndexOf('/') + 1)
  t.test(`the answers are those recorded in ${name}`, async (t) => {
    const recorded = existsSync(file) ? readFileSync(file, 'utf8').split('\n\n# ') : []
    const answered = text.split('\n\n# ')
    const differing = answered.flatMap((entry, at) => (entry === recorded[at] ? [] : [at]))
    for (const at of differing.slice(0, SHOWN)) t.equal(answered[at], recorded[at])
    t.equal(differing.length, 0, 'if the change is intended, run npm run docs and review the diff')
    t.equal(answered.length, recorded.length)
  })
}

/** Never successful, since their lists are always empty. */
const REFUSED = V3_OPERATIONS.filter(({ status }) => status === 400).map(({ name }) => `v3 ${name}`)
const NEVER = ['v3 deleteBlocksOf', 'v3 deleteInvalidEmailsOf', ...REFUSED]

t.test('every operation of v2, v3 and the operator is called, and succeeds at least once', async (t) => {
  const called = calledBy(calls)
  const good = calledBy(calls.filter(({ status }) => status < 300))
  t.ok(NAMES.size > 150)
  const missing = [...NAMES].filter((name) => !(NEVER.includes(name) ? called : good).has(name))
  t.strictSame(missing, [])
})
