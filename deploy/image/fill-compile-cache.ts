import { spawnSync } from 'node:child_process'
import { readFreshBundle } from '../../packages/launch/src/bundle.ts'

/**
 * Fills Node's compile cache while the image is built, by loading each program and thread of the bundle. The cache is only used by the user
 * that fills it (uid 1000), and on processors with the features of this one.
 */
const PROGRAMS = [
  'packages/api/src/server.ts',
  'packages/relay/src/server.ts',
  'packages/relay/src/returns-server.ts',
  'packages/delivery/src/worker.ts',
  'packages/sandbox/src/server.ts',
]
/** EX_CONFIG: the program was loaded whole, and then found an invalid setting. */
const EXIT_CONFIG = 78
/** A thread ends with an error when no process has started it, but it was loaded. */
const LOAD = 'await import(process.argv[1]).catch(() => {}); process.exit(0)'

const bundle = readFreshBundle()
if (!bundle)
  throw new Error(
    'there is no bundle of these sources: are the times of the files those that they had when it was made?',
  )
for (const program of PROGRAMS) run(EXIT_CONFIG, [program])
run(0, ['packages/cli/src/postrider.ts', '--help'])
run(1, ['packages/cli/src/probe.ts', 'http://127.0.0.1:1/'])
for (const [source, file] of Object.entries(bundle.modules))
  if (!source.endsWith('-process.ts')) run(0, ['--input-type=module', '--eval', LOAD, file])

function run(status: number, args: string[]): void {
  const ran = spawnSync(process.execPath, args, { env: { ...process.env, LOG_LEVEL: 'invalid' }, encoding: 'utf8' })
  if (ran.status !== status)
    throw new Error(`${args.at(-1)} ended with ${ran.status ?? ran.signal}:\n${ran.stdout}${ran.stderr}`)
}
