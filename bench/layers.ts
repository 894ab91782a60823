import { readFileSync } from 'node:fs'
import { parseArgs } from 'node:util'

/**
 * Divides the time of a CPU profile among rooms of the source, libraries and the runtime. `node bench/layers.ts FILE.cpuprofile [--messages N]`:
 * percent of the time in which the thread was busy, and with N also microseconds per message. What runs in the engine or in Node counts
 * for the nearest caller that is a room or a library, but garbage collection and writes to sockets have lines of their own.
 */
interface Profile {
  readonly nodes: readonly {
    readonly id: number
    readonly callFrame: { readonly functionName: string; readonly url: string }
    readonly children?: readonly number[]
  }[]
  readonly samples: readonly number[]
  readonly timeDeltas: readonly number[]
}

const { values, positionals } = parseArgs({ allowPositionals: true, options: { messages: { type: 'string' } } })
const [file] = positionals
if (file === undefined) {
  process.stderr.write('Name a .cpuprofile, such as bench/cpu.ts --profile leaves.\n')
  process.exit(64)
}
const profile = JSON.parse(readFileSync(file, 'utf8')) as Profile
const nodes = new Map(profile.nodes.map((node) => [node.id, node]))
const parents = new Map(profile.nodes.flatMap(({ id, children = [] }) => children.map((child) => [child, id] as const)))
const WRITES = new Set(['writev', 'writeUtf8String', 'writeLatin1String', 'writeBuffer', 'writeAsciiString'])

const times = new Map<string, number>()
for (const [at, id] of profile.samples.entries()) {
  const layer = layerOf(id)
  // The first one begins with the profile.
  if (at === 0) continue
  times.set(layer, (times.get(layer) ?? 0) + (profile.timeDeltas[at] ?? 0))
}
times.delete('(idle)')
const busy = [...times.values()].reduce((sum, one) => sum + one, 0)
for (const [layer, time] of [...times].sort((a, b) => b[1] - a[1])) {
  const perMessage =
    values.messages === undefined ? '' : ` ${(time / Number(values.messages)).toFixed(1).padStart(7)} µs`
  if (time > busy / 500) console.log(`${((100 * time) / busy).toFixed(1).padStart(5)} %${perMessage}  ${layer}`)
}

function layerOf(id: number): string {
  const name = nodes.get(id)?.callFrame.functionName ?? ''
  if (name.startsWith('(') && name !== '(anonymous)') return name
  let owner: string | undefined
  for (let at: number | undefined = id; at !== undefined && owner === undefined; at = parents.get(at)) {
    owner = ownerOf(nodes.get(at)?.callFrame.url ?? '')
  }
  return WRITES.has(name) ? `socket writes of ${owner ?? 'Node'}` : (owner ?? 'Node')
}

/** The room (packages/NAME/src/FOLDER) or library that a file belongs to; undefined if it is of the runtime. */
function ownerOf(url: string): string | undefined {
  const library = /node_modules\/(?!\.pnpm)((?:@[^/]+\/)?[^/]+)\/(?!node_modules)/.exec(url)?.[1]
  return library ?? /packages\/([^/]+\/src(?:\/[^/]+(?=\/))?)/.exec(url)?.[1]
}
