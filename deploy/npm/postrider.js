#!/usr/bin/env node
import { spawn } from 'node:child_process'
import { createRequire } from 'node:module'
import { constants } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

/*
 * The command of the package. Without arguments it starts the service, as `npm start` does in a checkout. The system's Node only has to be able to
 * run this file: one that is too old starts the one that the package brings along.
 */

const LEAST = 24
const PROGRAM = '../lib/packages.cli.src.postrider.js'

const [major = 0] = process.versions.node.split('.').map(Number)
if (major >= LEAST) {
  if (process.argv.length === 2) process.argv.push('up')
  await import(PROGRAM)
} else {
  const name = `node-${process.platform}-${process.arch}`
  const node = nodeOf(name)
  if (node === undefined) {
    process.stderr.write(
      `postrider: needs Node ${LEAST} or newer; this is ${process.versions.node}, and ${name} is not installed: install Node ${LEAST}, or install ` +
        'postrider again with optional dependencies\n',
    )
    process.exitCode = 78
  } else run(node)
}

/** @param {string} name */
function nodeOf(name) {
  try {
    return join(dirname(createRequire(import.meta.url).resolve(`${name}/package.json`)), 'bin', 'node')
  } catch {
    return undefined
  }
}

/**
 * Ends as the child does. A terminal sends its signals to both; what only this process gets is passed on.
 *
 * @param {string} node
 */
function run(node) {
  const child = spawn(node, [fileURLToPath(import.meta.url), ...process.argv.slice(2)], { stdio: 'inherit' })
  process.on('SIGINT', () => {})
  for (const signal of /** @type {const} */ (['SIGTERM', 'SIGHUP'])) process.on(signal, () => child.kill(signal))
  // The program that started this one has ended.
  process.on('disconnect', () => child.kill('SIGTERM'))
  process.channel?.unref()
  child.once('error', (error) => {
    process.stderr.write(`postrider: ${node} could not be started: ${error.message}\n`)
    process.exitCode = 78
  })
  child.once('exit', (code, signal) => {
    process.exitCode = code ?? 128 + constants.signals[/** @type {NodeJS.Signals} */ (signal)]
  })
}
