import { execFileSync } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import t, { type Test } from 'tap'
import { BARE_ENVIRONMENT } from '../helpers/processes.ts'

const LAUNCH = fileURLToPath(new URL('../../packages/launch/', import.meta.url))
/** Long before, so that no build has to wait for the sources to be older than itself. */
const BEFORE = new Date('2026-01-01')

/** A program that says what it sees: a module, a file beside it, a part of Node, a library, a lazily loaded one with named exports, and a thread. */
const PROGRAM: Readonly<Record<string, string>> = {
  'packages/app/src/server.ts': `
    import { launch } from '@postrider/launch'
    await launch(new URL('./app-process.ts', import.meta.url))`,
  'packages/app/src/app-process.ts': `
    import { readFileSync } from 'node:fs'
    import { type Server, STATUS_CODES } from 'node:http'
    import { Worker } from 'node:worker_threads'
    import { word } from './word.ts'
    const beside = readFileSync(new URL('../beside.txt', import.meta.url), 'utf8')
    const { named } = await import('lazy')
    const library = import.meta.resolve('lazy').endsWith('/app/node_modules/lazy/index.cjs')
    const thread = new Worker(new URL('./thread.ts', import.meta.url))
    const [said]: any[] = await new Promise((resolve) => thread.once('message', (...all) => resolve(all)))
    const from = (stack: string | undefined) => (stack?.includes('/.cache/postrider/') ? 'bundle' : 'sources')
    const teapot = STATUS_CODES[418]
    const loadsWebSocket = (process as any).moduleLoadList.includes('NativeModule internal/deps/undici/undici')
    const { METHODS } = await import('node:http')
    const seen = { word, teapot, loadsWebSocket, methods: METHODS.length > 9, beside, named, library, thread: said.word }
    console.log(JSON.stringify({ ...seen, from: from(new Error().stack), threadFrom: from(said.stack) }))`,
  'packages/app/src/word.ts': `export const word: string = 'one'`,
  'packages/app/src/thread.ts': `
    import { parentPort } from 'node:worker_threads'
    import { word } from './word.ts'
    parentPort?.postMessage({ word, stack: new Error().stack })`,
  'packages/app/beside.txt': 'beside',
  'packages/app/package.json': '{ "type": "module" }',
  'packages/app/node_modules/lazy/package.json': '{ "main": "index.cjs" }',
  'packages/app/node_modules/lazy/index.cjs': `const all = exports; all['nam' + 'ed'] = 0; exports.named = 'lazily'`,
  'node_modules/.pnpm/lock.yaml': '',
}

/** An installation in a folder of its own, with the launcher of this repository. */
function install(t: Test) {
  const root = mkdtempSync(join(process.env.TEST_FOLDER ?? tmpdir(), 'launch-'))
  t.teardown(() => rmSync(root, { recursive: true, force: true }))
  const write = (file: string, text: string, time = BEFORE) => {
    mkdirSync(dirname(join(root, file)), { recursive: true })
    writeFileSync(join(root, file), text)
    utimesSync(join(root, file), time, time)
  }
  for (const [file, text] of Object.entries(PROGRAM)) write(file, text)
  cpSync(join(LAUNCH, 'src'), join(root, 'packages/launch/src'), { recursive: true })
  cpSync(join(LAUNCH, 'package.json'), join(root, 'packages/launch/package.json'))
  symlinkSync(join(LAUNCH, 'node_modules'), join(root, 'packages/launch/node_modules'))
  mkdirSync(join(root, 'packages/app/node_modules/@postrider'), { recursive: true })
  symlinkSync('../../../launch', join(root, 'packages/app/node_modules/@postrider/launch'))
  const env: Record<string, string> = { ...BARE_ENVIRONMENT, NODE_V8_COVERAGE: '' }
  const node = (...args: string[]) =>
    execFileSync(process.execPath, args, { cwd: root, env, encoding: 'utf8', stdio: 'pipe' })
  return {
    env,
    write,
    build: () => node('packages/launch/src/build.ts'),
    run: (...options: string[]) =>
      JSON.parse(node(...options, 'packages/app/src/server.ts')) as Record<string, unknown>,
  }
}

const SEEN = {
  word: 'one',
  teapot: "I'm a Teapot",
  methods: true,
  beside: 'beside',
  named: 'lazily',
  library: true,
  thread: 'one',
}
const FROM_SOURCES = { ...SEEN, loadsWebSocket: true, from: 'sources', threadFrom: 'sources' }
const FROM_BUNDLE = { ...SEEN, loadsWebSocket: false, from: 'bundle', threadFrom: 'bundle' }

t.test('a program runs from its sources, and from the bundle once there is one, and sees the same', async (t) => {
  const { build, run } = install(t)
  t.strictSame(run(), FROM_SOURCES)
  t.match(build(), /^bundled the programs in \d+\.\d s\n$/)
  t.strictSame(run(), FROM_BUNDLE)
  t.equal(build(), '', 'a bundle of the same sources is not made again')
})

t.test('a bundle of other sources does not count, and is replaced by the next setup', async (t) => {
  const { write, build, run } = install(t)
  build()
  const changed = { word: 'two', thread: 'two' }
  write('packages/app/src/word.ts', `export const word: string = 'two'`, new Date('2025-01-01'))
  t.strictSame(run(), { ...FROM_SOURCES, ...changed }, 'not even if the other source is older')
  build()
  t.strictSame(run(), { ...FROM_BUNDLE, ...changed })
  write('node_modules/.pnpm/lock.yaml', 'other libraries')
  t.strictSame(run(), { ...FROM_SOURCES, ...changed })
})

t.test('a debugger, a profiler or coverage sees the sources', async (t) => {
  const { env, build, run } = install(t)
  build()
  t.strictSame(run('--cpu-prof', '--cpu-prof-dir=profile'), FROM_SOURCES)
  t.strictSame(run('--inspect=127.0.0.1:0'), FROM_SOURCES)
  env.NODE_V8_COVERAGE = 'coverage'
  t.strictSame(run(), FROM_SOURCES)
})

t.test('a bundle that cannot be made or read stops no process', async (t) => {
  const { write, build, run } = install(t)
  write('packages/app/src/unused.ts', `new Worker(new URL('./broken.ts', import.meta.url))`)
  write('packages/app/src/broken.ts', 'import "./missing.ts"')
  build()
  t.strictSame(run(), FROM_SOURCES)
  write('node_modules/.cache/postrider/bundle.json', '{ "folder": ')
  t.strictSame(run(), FROM_SOURCES)
})
