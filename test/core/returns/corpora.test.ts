import { readdirSync, readFileSync } from 'node:fs'
import { type ReturnReading, readReturn } from '@postrider/core'
import t from 'tap'
import { corpusPath, skipWithoutCorpora } from '../../helpers/corpora.ts'

interface ExpectedBounce {
  readonly reason: string
  readonly hard: boolean
}

/** Who is right about these is a matter of opinion: they count neither as right nor as wrong. */
const DISPUTED: ReadonlySet<string> = new Set(['filtered', 'suspend'])

function readAll<Expected>(folder: string): { file: string; reading: ReturnReading; expected: readonly Expected[] }[] {
  const all = JSON.parse(readFileSync(corpusPath(`${folder}/expected.json`), 'utf8')) as Record<string, Expected[]>
  return Object.entries(all).map(([file, expected]) => ({
    file,
    expected,
    reading: readReturn(readFileSync(corpusPath(`${folder}/${file}`))),
  }))
}

t.test('bounce reports of real servers are read, and hard ones known from soft ones', skipWithoutCorpora, async (t) => {
  const wrong: string[] = []
  let [rows, soft, falselyHard, unread] = [0, 0, 0, 0]
  for (const { file, reading, expected } of ['bounces', 'bounces-rfc3464'].flatMap(readAll<ExpectedBounce>)) {
    if (reading.kind === 'unrecognised') unread++
    for (const [at, { reason, hard }] of expected.entries()) {
      if (DISPUTED.has(reason)) continue
      rows++
      const found = reading.kind === 'bounce' ? reading.recipients[at] : undefined
      const isRight = reason === 'feedback' ? reading.kind === 'complaint' : found?.hard === hard
      if (!isRight) wrong.push(`${file}: ${reason}: ${found?.class ?? reading.kind} ${found?.text ?? ''}`)
      if (hard) continue
      soft++
      if (found?.hard) falselyHard++
    }
  }
  const right = (100 * (rows - wrong.length)) / rows
  t.comment(
    `figures: ${right.toFixed(2)} % of ${rows} recipients right; ${falselyHard} of ${soft} falsely hard; ${unread} files unrecognised`,
  )
  t.comment(wrong.join('\n'))
  t.ok(rows > 250, `${rows} recipients`)
  t.ok(right >= 99, `${right} % right`)
  t.ok(falselyHard <= soft * 0.01, `${falselyHard} of ${soft} falsely hard`)
})

interface ExpectedFeedback {
  readonly reason: string
  readonly feedbackType?: string
}

function kindOf({ reason, feedbackType }: ExpectedFeedback): ReturnReading['kind'] {
  if (reason === 'vacation') return 'auto-reply'
  if (feedbackType === 'opt-out' || feedbackType === 'auth-failure' || feedbackType === 'not-spam') return feedbackType
  return 'complaint'
}

t.test('all complaints and automatic replies of the corpus are read by kind', skipWithoutCorpora, async (t) => {
  const readings = readAll<ExpectedFeedback>('feedback')
  for (const { file, reading, expected } of readings) {
    for (const row of expected) {
      t.equal(reading.kind, kindOf(row), file)
      if (reading.kind === 'complaint') t.equal(reading.feedbackType, row.feedbackType, file)
    }
  }
  t.comment(`figures: ${readings.length} complaints and automatic replies`)
  t.ok(readings.length > 10)
})

t.test('bounce reports cut at any place are read or unrecognised', skipWithoutCorpora, async (t) => {
  const kinds = new Set<string>()
  for (const file of readdirSync(corpusPath('bounces')).filter((name) => name.endsWith('.eml'))) {
    const raw = readFileSync(corpusPath(`bounces/${file}`))
    for (const share of [0.1, 0.3, 0.5, 0.7, 0.9]) {
      kinds.add(readReturn(raw.subarray(0, Math.floor(raw.length * share))).kind)
    }
  }
  t.ok(kinds.has('bounce') && kinds.has('unrecognised'))
  for (const kind of kinds) t.match(kind, /^(bounce|unrecognised|auto-reply|complaint)$/)
})
