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
  return runFor(60, files)
}

/** The same; the process has so many seconds to end. */
async function runFor(endsWithin: number, files: readonly string[]) {
  const late: { file: string; text: string }[] = []
  const onLateError = (file: string, text: string) => void late.push({ file, text: text.split('\n')[0] as string })
  const tests = openTestProcess({ env: process.env, patience: 60, endsWithin, debug: false, onLateError })
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

t.test('files that keep their process alive are named', async (t) => {
  const file = write('open.mjs', "t.test('leaves it open', async (t) => { setInterval(() => {}, 1000); t.pass() })")
  const { counts, problem } = await runFor(2, [file])
  t.strictSame(counts, [PASSED])
  t.match(problem, `leave something open or fail late: ${file}`)
})

t.test('a process that hangs at its end, with nothing left open, is no fault of its files', async (t) => {
  const hangs = 'Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0)'
  const file = write('hangs.mjs', `t.test('ends', async (t) => { process.on('exit', () => { ${hangs} }); t.pass() })`)
  const { counts, problem } = await runFor(5, [file])
  t.strictSame(counts, [PASSED])
  t.equal(problem, undefined)
})
