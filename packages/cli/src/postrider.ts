import { enableCompileCache } from 'node:module'
import { COMPILE_CACHE } from './compile-cache.ts'

// Before anything else is read.
enableCompileCache(COMPILE_CACHE)
const { runCommand } = await import('./command-line.ts')

// A reader like `head` that has gone is not our failure; `up` goes on without it.
process.stdout.on('error', () => {})
process.exitCode = await runCommand(process.argv.slice(2), process.env, process)
