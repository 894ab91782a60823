import t from 'tap'
import { limitHere } from '../helpers/turns.ts'
import { beyond, MOST_TURN_MS, measureRows } from './measure.ts'
import { DOORS } from './row.ts'
import { ROWS } from './rows/index.ts'

/** `npm run test:hostile` holds all rows to the bound itself; here other tests run beside these. */
const MARGIN = 2.5

for (const door of DOORS) {
  const rows = ROWS.filter((row) => row.quick && row.door === door)
  if (rows.length === 0) continue
  t.test(`no costly input keeps the ${door}'s main loop from its other clients`, { timeout: 280_000 }, async (t) => {
    for await (const cost of measureRows(door, rows)) {
      const limit = (cost.most ?? MOST_TURN_MS) * MARGIN
      const tolerated = !cost.stuck && (cost.longest <= limit || cost.longest <= limitHere(limit))
      const wrong = beyond({ ...cost, ...(tolerated ? { longest: 0 } : {}) })
      t.equal(
        wrong,
        undefined,
        `${cost.name}: ${cost.longest.toFixed(0)} ms, ${cost.peak.toFixed(0)} MiB, ${cost.answer}`,
      )
    }
  })
}
