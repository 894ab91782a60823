import { globSync, readFileSync } from 'node:fs'
import { stripTypeScriptTypes } from 'node:module'
import { fileURLToPath } from 'node:url'
import { parse } from 'acorn'
import t from 'tap'
import { timerDelay } from '../packages/core/src/platform/concurrency/timer-delay.ts'

/** Reads the sources for delays that are computed without a bound, and the tests for what a busy machine can fail. */
const ROOT = fileURLToPath(new URL('..', import.meta.url))

interface Node {
  readonly type: string
  readonly start: number
  readonly end: number
  readonly [key: string]: unknown
}

interface Source {
  readonly file: string
  readonly nodes: readonly Node[]
  textOf(node: unknown): string
  /** "packages/core/src/process.ts:17: the text" */
  placeOf(node: Node): string
}

/** The sources that contain a pattern, with all of their syntax trees' nodes. */
function sourcesWith(pattern: RegExp, files: string): Source[] {
  const all = globSync(files, { cwd: ROOT }).filter((file) => !file.endsWith('.d.ts'))
  return all.sort().flatMap((file) => {
    const text = readFileSync(`${ROOT}/${file}`, 'utf8')
    if (!pattern.test(text)) return []
    // Types are replaced by spaces, so positions are those of the file.
    const code = stripTypeScriptTypes(text)
    const textOf = (node: unknown) => code.slice((node as Node).start, (node as Node).end)
    const placeOf = (node: Node) => `${file}:${code.slice(0, node.start).split('\n').length}: ${textOf(node)}`
    return [{ file, nodes: nodesOf(parse(code, { ecmaVersion: 'latest', sourceType: 'module' })), textOf, placeOf }]
  })
}

function nodesOf(value: unknown, found: Node[] = []): Node[] {
  if (typeof value !== 'object' || value === null) return found
  if ('type' in value) found.push(value as Node)
  for (const inner of Object.values(value)) nodesOf(inner, found)
  return found
}

const PROMISED = /import \{ setTimeout(?: as (\w+))? \} from 'node:timers\/promises'/
const CONSTANT = /(?:[\d_]+|[A-Z][A-Z_\d]*(?:\.\w+)?)/.source
/** A number, a constant, a row of a table of constants, one of two of them, or what is bounded. */
const BOUNDED = new RegExp(`^(?:(?:\\w+ \\? )?${CONSTANT}(?: [*/:] ${CONSTANT})?|timerDelay\\(.*\\))$`, 's')

t.test('every delay of a timer in the packages is a constant or bounded by timerDelay', async (t) => {
  const unbounded: string[] = []
  let timers = 0
  for (const { file, nodes, textOf, placeOf } of sourcesWith(
    /setTimeout|setInterval|AbortSignal/,
    'packages/*/src/**/*.ts',
  )) {
    const [imported, promised = imported && 'setTimeout'] = PROMISED.exec(readFileSync(`${ROOT}/${file}`, 'utf8')) ?? []
    for (const node of nodes.filter(({ type }) => type === 'CallExpression')) {
      const name = textOf(node.callee)
      const isFirst = name === promised || name === 'AbortSignal.timeout'
      if (!isFirst && name !== 'setTimeout' && name !== 'setInterval') continue
      timers++
      const delay = (node.arguments as Node[])[isFirst ? 0 : 1]
      if (delay && !BOUNDED.test(textOf(delay))) unbounded.push(placeOf(node))
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

const CLOCK = /^(?:performance\.now|Date\.now|process\.hrtime(?:\.bigint)?)\(\)$/
/** Files that compare a measured time for a reason of their own: it makes what they check weaker where it is long. */
const COMPARE_TIMES: Readonly<Record<string, string>> = {
  'test/api/v2/events-feed.test.ts': 'an answer that comes at once is asked for until it does',
  'test/core/messages/body-objects.test.ts': 'so many requests are made per second that passed',
}

/** The comparisons of a time that was measured as the difference of two looks at a clock, but for those that it is long enough. */
function comparedTimes({ nodes, textOf }: Source): Node[] {
  const looks = new Set<string>()
  const times = new Set<string>()
  const isLook = (node: unknown) => CLOCK.test(textOf(node)) || looks.has(textOf(node))
  const isTime = (node: unknown) =>
    nodesOf(node).some(
      (one) =>
        (one.type === 'BinaryExpression' && one.operator === '-' && isLook(one.left) && isLook(one.right)) ||
        (one.type === 'Identifier' && times.has(one.name as string)),
    )
  for (const { type, id, init, left, right } of nodes) {
    const [name, value] = type === 'AssignmentExpression' ? [left, right] : [id, init]
    if (!name || !value || !/^Assign|^VariableDeclarator/.test(type)) continue
    if (CLOCK.test(textOf(value))) looks.add(textOf(name))
    else if (!/Function/.test((value as Node).type) && isTime(value)) times.add(textOf(name))
  }
  const isLongEnough = new Set(
    nodes
      .filter(({ type, callee }) => type === 'CallExpression' && /^t\.ok$/.test(textOf(callee)))
      .flatMap(({ arguments: args }) => nodesOf((args as Node[])[0]))
      .filter(({ operator, left }) => /^>=?$/.test(String(operator)) && isTime(left)),
  )
  return nodes.filter(
    (one) =>
      one.type === 'BinaryExpression' &&
      /^[<>]=?$/.test(String(one.operator)) &&
      (isTime(one.left) || isTime(one.right)) &&
      !isLongEnough.has(one),
  )
}

t.test('no test fails since something took long: it has isInTime or processorTimeOf of helpers/pace.ts', async (t) => {
  const found = sourcesWith(/- (?:performance|Date)\.now|\.now\(\) -|hrtime/, 'test/**/*.test.ts').flatMap((source) => {
    const compared = comparedTimes(source)
    return source.file in COMPARE_TIMES
      ? compared.length > 0
        ? []
        : [`${source.file} has no reason to be listed any more`]
      : compared.map(source.placeOf)
  })
  t.strictSame(found, [])
})
