import { runCommand } from './command-line.ts'

// A reader such as `head` that closes the pipe is not an error of this process; `up` continues without it.
process.stdout.on('error', () => {})
process.exitCode = await runCommand(process.argv.slice(2), process.env, process)
