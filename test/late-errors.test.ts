import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t from 'tap'
import { openTestProcess } from './helpers/test-processes.ts'
import { TestReport } from './helpers/test-report.ts'

const folder = mkdtempSync(join(process.env.TEST_FOLDER ?? tmpdir(), 'late-'))

function write(name: string, body: string): string {
  const file = join(folder, name)
  writeFileSync(file, `import { setTimeout as pause } from 'node:timers/promises'\nimport t from 'tap'\n${body}\n`)
  return file
}

/** Runs the files in one process. Answers the failed and passed tests of each, and its late errors. */
async function runTogether(...files: readonly string[]) {
  const late: { file: string; text: string }[] = []
  const onLateError = (file: string, text: string) => void late.push({ file, text: text.split('\n')[0] as string })
  const tests = openTestProcess({ env: process.env, patience: 60, debug: false, onLateError })
  const counts = []
  for (const file of files) {
    const report = new TestReport(() => {})
    await tests.run(file, report)
    counts.push({ ...report.count })
  }
  return { counts, late, problem: await tests.end() }
}

const PASSED = { passed: 1, failed: 0, skipped: 0 }

/** Of the process of the files; the first leaves behind what fails once the next is there. */
const onceNextRuns = (act: string) =>
  `const look = setInterval(() => { if (globalThis.nextRuns) { clearInterval(look); ${act} } }, 10)`
const TOO_LATE = "throw new Error('too late')"

for (const [what, act] of [
  ['an exception of a timer', TOO_LATE],
  ['an unhandled rejection', `void (async () => { await pause(10); ${TOO_LATE} })()`],
] as const)
  t.test(`${what} after the end of its file is that file's, and the next file passes`, async (t) => {
    const first = write('first.mjs', `t.test('starts it', async (t) => { ${onceNextRuns(act)}; t.pass() })`)
    const next = write(
      'next.mjs',
      "t.test('lives meanwhile', async (t) => { globalThis.nextRuns = true; await pause(900); t.pass() })",
    )
    const { counts, late, problem } = await runTogether(first, next)
    t.strictSame(counts, [PASSED, PASSED])
    t.strictSame(late, [{ file: first, text: 'Error: too late' }])
    t.equal(problem, undefined)
  })

t.test('an uncaught error fails its file while that is running', async (t) => {
  const file = write(
    'own.mjs',
    "t.test('waits', async (t) => { setTimeout(() => { throw new Error('in time') }); await pause(900); t.pass() })",
  )
  const { counts, late } = await runTogether(file)
  t.strictSame([counts[0]?.failed, late], [1, []])
})

t.test("an error after the end of the last file is that file's", async (t) => {
  const act = `const look = setInterval(() => { if (process.stdin.readableEnded) { clearInterval(look); ${TOO_LATE} } }, 10)`
  const only = write('only.mjs', `t.test('starts it', async (t) => { ${act}; t.pass() })`)
  const { counts, late } = await runTogether(only)
  t.strictSame(counts, [PASSED])
  t.strictSame(late, [{ file: only, text: 'Error: too late' }])
})
