import { globSync, readFileSync } from 'node:fs'
import { stripTypeScriptTypes } from 'node:module'
import { fileURLToPath } from 'node:url'
import { parse } from 'acorn'
import t from 'tap'
import { timerDelay } from '../packages/core/src/platform/concurrency/timer-delay.ts'

/** Reads the sources for delays that are computed without a bound. */
const ROOT = fileURLToPath(new URL('..', import.meta.url))

interface Node {
  readonly type: string
  readonly start: number
  readonly end: number
  readonly callee?: Node & { readonly name?: string; readonly object?: Node; readonly property?: Node }
  readonly arguments?: readonly Node[]
  readonly name?: string
}

interface Call {
  /** "packages/core/src/process.ts:17" */
  readonly place: string
  readonly name: string
  readonly args: readonly string[]
}

/** Every call of a function by its name, or of a method by the name of its object as well. */
function callsIn(file: string): Call[] {
  // Types are replaced by spaces, so positions are those of the file.
  const code = stripTypeScriptTypes(readFileSync(`${ROOT}/${file}`, 'utf8'))
  const textOf = ({ start, end }: Node): string => code.slice(start, end)
  const found: Call[] = []
  const visit = (value: unknown): void => {
    if (typeof value !== 'object' || value === null) return
    const { type, callee, arguments: args = [], start } = value as Node
    if (type === 'CallExpression' && callee)
      found.push({
        place: `${file}:${code.slice(0, start).split('\n').length}`,
        name: textOf(callee),
        args: args.map(textOf),
      })
    for (const one of Object.values(value)) visit(one)
  }
  visit(parse(code, { ecmaVersion: 'latest', sourceType: 'module' }))
  return found
}

const PROMISED = /import \{ setTimeout(?: as (\w+))? \} from 'node:timers\/promises'/
const CONSTANT = /(?:[\d_]+|[A-Z][A-Z_\d]*(?:\.\w+)?)/.source
/** A number, a constant, a row of a table of constants, one of two of them, or what is bounded. */
const BOUNDED = new RegExp(`^(?:(?:\\w+ \\? )?${CONSTANT}(?: [*/:] ${CONSTANT})?|timerDelay\\(.*\\))$`, 's')

t.test('every delay of a timer in the packages is a constant or bounded by timerDelay', async (t) => {
  const files = globSync('packages/*/src/**/*.ts', { cwd: ROOT }).filter((file) => !file.endsWith('.d.ts'))
  const unbounded: string[] = []
  let timers = 0
  for (const file of files.sort()) {
    const source = readFileSync(`${ROOT}/${file}`, 'utf8')
    if (!/setTimeout|setInterval|AbortSignal/.test(source)) continue
    const [imported, promised = imported && 'setTimeout'] = PROMISED.exec(source) ?? []
    for (const { place, name, args } of callsIn(file)) {
      const isFirst = name === promised || name === 'AbortSignal.timeout'
      if (!isFirst && name !== 'setTimeout' && name !== 'setInterval') continue
      timers++
      const delay = args[isFirst ? 0 : 1]
      if (delay !== undefined && !BOUNDED.test(delay)) unbounded.push(`${place}: ${delay}`)
    }
  }
  t.ok(timers > 80, `${timers} timers`)
  t.strictSame(unbounded, [])
})

t.test('a computed delay is one that Node takes without a warning', async (t) => {
  const warnings: string[] = []
  const note = ({ name }: Error): void => void (/^Timeout/.test(name) && warnings.push(name))
  process.on('warning', note)
  t.teardown(() => process.off('warning', note))
  const delays: [number, number][] = [
    [-0.7, 0],
    [Number.NaN, 0],
    [Number.NEGATIVE_INFINITY, 0],
    [0.4, 0],
    [12.9, 12],
    [Number.POSITIVE_INFINITY, 2_147_483_647],
  ]
  for (const [computed, delay] of delays) {
    t.equal(timerDelay(computed), delay)
    clearTimeout(setTimeout(() => {}, timerDelay(computed)))
    t.doesNotThrow(() => AbortSignal.timeout(timerDelay(computed)))
  }
  // Warnings are emitted in a later turn.
  await new Promise((resolve) => setImmediate(resolve))
  t.strictSame(warnings, [])
})
