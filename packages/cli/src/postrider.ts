import { enableCompileCache } from 'node:module'
import { COMPILE_CACHE } from './compile-cache.ts'

// Before the first import of the service's own modules.
enableCompileCache(COMPILE_CACHE)
const { runCommand } = await import('./command-line.ts')

// A reader such as `head` that closes the pipe is not an error of this process; `up` continues without it.
process.stdout.on('error', () => {})
process.exitCode = await runCommand(process.argv.slice(2), process.env, process)
