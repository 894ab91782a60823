import { spawnSync } from 'node:child_process'
import { globSync, readFileSync } from 'node:fs'

/**
 * Fills NODE_COMPILE_CACHE while the image is built, by loading each program: a start then takes 1.2 s of processor time instead of 2.1.
 * The cache is only used by the user that fills it (uid 1000), and on processors with the features of this one.
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
const LOAD_ALL = 'await Promise.allSettled(process.argv.slice(1).map((file) => import(file))); process.exit(0)'

for (const program of PROGRAMS) run(EXIT_CONFIG, [program], { LOG_LEVEL: 'invalid' })
run(0, ['packages/cli/src/postrider.ts', '--help'])
run(1, ['packages/cli/src/probe.ts', 'http://127.0.0.1:1/'])

// Threads: without the process that starts them, they end with an error when they are loaded.
const threads = globSync('packages/*/src/**/*.ts').filter((file) =>
  /\b(?:parentPort|workerData)\b/.test(readFileSync(file, 'utf8')),
)
run(0, ['--input-type=module', '--eval', LOAD_ALL, ...threads.map((file) => `${process.cwd()}/${file}`)])

function run(status: number, args: string[], env: Record<string, string> = {}): void {
  const ran = spawnSync(process.execPath, args, { env: { ...process.env, ...env }, encoding: 'utf8' })
  if (ran.status !== status)
    throw new Error(`${args[0]} ended with ${ran.status ?? ran.signal}:\n${ran.stdout}${ran.stderr}`)
}
