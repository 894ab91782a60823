import { spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'

/**
 * Compares the processor time of two runs of bench/cpu.ts in the order ABBA, by part: the mean of each, and the difference of B with its
 * standard error. `node bench/in-turn.ts [--rounds N] [--messages N] [--a=FLAGS] [--b=FLAGS] [--tree-a DIR] [--tree-b DIR]`: the flags are those of
 * bench/cpu.ts, a tree is another checkout. User time: what other processes do to caches and to the kernel is noise.
 */
const { values: options } = parseArgs({
  options: {
    rounds: { type: 'string', default: '5' },
    messages: { type: 'string', default: '9000' },
    a: { type: 'string', default: '' },
    b: { type: 'string', default: '' },
    'tree-a': { type: 'string' },
    'tree-b': { type: 'string' },
  },
})
const ROOT = fileURLToPath(new URL('..', import.meta.url))
type Side = 'a' | 'b'

/** User microseconds a message, by part. */
async function run(side: Side): Promise<Map<string, number>> {
  const flags = (options[side] ?? '').split(' ').filter(Boolean)
  const args = ['bench/cpu.ts', '--messages', options.messages, ...flags]
  const child = spawn(process.execPath, args, {
    cwd: options[`tree-${side}`] ?? ROOT,
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  let text = ''
  for await (const chunk of child.stdout) text += chunk
  // The second one: the first third of the messages warms up.
  const line = text.split('\n').filter((one) => one.includes('messages/s'))[1] ?? ''
  const parts = [...line.matchAll(/(\w[\w-]*) [\d.]+ \(([\d.]+) user\)/g)].map(
    ([, name = '', user]) => [name, Number(user)] as const,
  )
  if (parts.length === 0) throw new Error(`no figures: ${text.slice(-500)}`)
  const own = new Map(parts.filter(([name]) => !name.startsWith('smtp')))
  own.set(
    'sum',
    [...own.values()].reduce((sum, one) => sum + one, 0),
  )
  process.stdout.write(
    `${side.toUpperCase()} ${[...own].map(([name, user]) => `${name} ${user.toFixed(1)}`).join(', ')}\n`,
  )
  return own
}

const mean = (values: readonly number[]): number => values.reduce((sum, one) => sum + one, 0) / values.length

const rounds: Record<Side, Map<string, number>[]>[] = []
for (let round = 0; round < Number(options.rounds); round++) {
  const of: Record<Side, Map<string, number>[]> = { a: [], b: [] }
  for (const side of ['a', 'b', 'b', 'a'] as const) of[side].push(await run(side))
  rounds.push(of)
}
for (const part of rounds[0]?.a[0]?.keys() ?? []) {
  const of = (side: Side) => rounds.map((round) => mean(round[side].map((parts) => parts.get(part) ?? 0)))
  const [a, b] = [of('a'), of('b')]
  const differences = a.map((before, at) => (100 * ((b[at] ?? 0) - before)) / before)
  const average = mean(differences)
  const variance = differences.reduce((sum, one) => sum + (one - average) ** 2, 0) / Math.max(1, differences.length - 1)
  const error = Math.sqrt(variance / differences.length)
  process.stdout.write(
    `${part}: ${mean(a).toFixed(1)} and ${mean(b).toFixed(1)} µs user a message; B ${average.toFixed(2)} % ± ${error.toFixed(2)}\n`,
  )
}
