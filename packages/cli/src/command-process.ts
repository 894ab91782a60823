import { runCommand } from './command-line.ts'
import { loadSettingsFile } from './settings-file.ts'

// A reader such as `head` that closes the pipe is not an error of this process; `up` continues without it.
process.stdout.on('error', () => {})
const unused = loadSettingsFile()
if (unused !== undefined) process.stderr.write(`postrider: ${unused}\n`)
process.exitCode = await runCommand(process.argv.slice(2), process.env, process)
