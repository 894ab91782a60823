import { AsyncLocalStorage } from 'node:async_hooks'
import { registerHooks } from 'node:module'
import { createInterface } from 'node:readline'
import { pathToFileURL } from 'node:url'
import { inspect } from 'node:util'
import type { Test } from 'tap'
import { LATE, OVER } from './test-report.ts'
import { FAULTS } from './warnings.ts'

/**
 * Runs the test files whose names come on stdin, one after another, in this process (docs/decisions/0016-own-test-runner.md). Each is a
 * test of tap's root, and what it imports as `tap` is that test.
 */
const tests = new Map<string, Test>()

Object.assign(globalThis, { testFiles: tests })

/**
 * tap's own follows every promise with an async hook, to attribute an error that nobody caught to its test: a quarter of the processor time
 * of a test that makes many calls. Without it such an error ends the process, and the runner counts a failure of the file.
 */
const NO_DOMAIN = 'export class Domain { destroy() {} }'

registerHooks({
  resolve(specifier, context, next) {
    const test = specifier === 'tap' && tests.has(context.parentURL ?? '')
    if (!test && specifier !== 'async-hook-domain') return next(specifier, context)
    return { url: test ? `test-of:${context.parentURL}` : 'test-of:none', format: 'module', shortCircuit: true }
  },
  load(url, context, next) {
    if (!url.startsWith('test-of:')) return next(url, context)
    const file = url.slice('test-of:'.length)
    const source = file === 'none' ? NO_DOMAIN : `export default globalThis.testFiles.get(${JSON.stringify(file)})`
    return { format: 'module', shortCircuit: true, source }
  },
})

const { default: root } = await import('tap')
let current: Test = root
let running: string | undefined
// Before what the files do then.
process.once('exit', () => process.stdout.write(`\n${OVER}\n`))

process.on('warning', (warning) => {
  if (FAULTS.test(warning.name)) current.fail(`${warning.name}: ${warning.message}`)
})

/** The file that started, however indirectly, what runs at the moment; Node knows it without async hooks. */
const origin = new AsyncLocalStorage<string>()

/** An error of a file that has ended is reported as that file's. Any other ends the process, and fails the file that is running. */
process.on('uncaughtException', (error) => {
  const file = origin.getStore()
  const text = inspect(error)
  if (file === undefined || file === running) {
    process.stderr.write(`${text}\n`)
    process.exit(1)
  }
  process.stdout.write(`\n${LATE}${JSON.stringify({ file, text })}\n`)
})

for await (const file of createInterface({ input: process.stdin })) {
  running = file
  const timeout = Number(process.env.FILE_TIMEOUT) * 1000
  const act = async (test: Test) => {
    const url = pathToFileURL(file).href
    tests.set(url, test)
    current = test
    await import(url)
  }
  await origin.run(file, () => root.test(file, { timeout }, act))
  running = undefined
}

/** Half of the time in which the runner expects the process to end. Otherwise what keeps it alive would be lost with it. */
const SOON_MS = 30_000
setTimeout(() => process.stderr.write(`kept alive by ${openResources()}\n`), SOON_MS).unref()

function openResources(): string {
  const { _getActiveHandles: handles } = process as unknown as { _getActiveHandles?: () => object[] }
  const shown = (handles?.call(process) ?? []).map((handle) => {
    const { pid, remotePort, localPort, spawnargs } = handle as Record<string, unknown>
    return [handle.constructor.name, pid, spawnargs, localPort, remotePort].filter(Boolean).join(' ')
  })
  return [...process.getActiveResourcesInfo(), ...shown].join(', ')
}
