import { setTimeout as pause } from 'node:timers/promises'
import t from 'tap'
import { makeGrownService } from '../helpers/grown.ts'
import { type ProcessName, startProcess } from '../helpers/processes.ts'
import { planOf, recordStatements, wholeScans } from '../helpers/statements.ts'

/** Long enough for what a process does first; what it asks each minute is asked below. */
const FIRST_MS = 3000

t.test('nothing that a process asks when it starts reads a large table from end to end', async (t) => {
  const { service } = await makeGrownService(t)
  const url = service.env.DATABASE_URL as string
  const recorder = await recordStatements(t, url)
  for (const name of ['api', 'relay', 'delivery'] as const satisfies readonly ProcessName[]) {
    recorder.clear()
    const running = await startProcess(t, name, { ...service.env, DATABASE_URL: recorder.url })
    await pause(FIRST_MS)
    await running.stop()
    const statements = recorder.statements()
    t.ok(statements.length > 5, `${name} asks`)
    for (const statement of statements) {
      t.same(wholeScans(await planOf(service.sql, statement)), [], statement.text.replace(/\s+/g, ' ').slice(0, 200))
    }
  }
})
