import { registerHooks } from 'node:module'
import { createInterface } from 'node:readline'
import { pathToFileURL } from 'node:url'
import type { Test } from 'tap'
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

process.on('warning', (warning) => {
  if (FAULTS.test(warning.name)) current.fail(`${warning.name}: ${warning.message}`)
})

for await (const file of createInterface({ input: process.stdin })) {
  await root.test(file, { timeout: Number(process.env.FILE_TIMEOUT) * 1000 }, async (test) => {
    const url = pathToFileURL(file).href
    tests.set(url, test)
    current = test
    await import(url)
  })
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
