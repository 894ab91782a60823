import { EXIT_CONFIG } from '@postrider/core'
import { runCommand } from './command-line.ts'
import { readSettings, settingsPath } from './settings-file.ts'

// A reader such as `head` that closes the pipe is not an error of this process; `up` continues without it.
process.stdout.on('error', () => {})
/** Help and version are shown whatever the settings are. */
const NEEDS_NONE = new Set(['help', '--help', '-h', '--version'])
const args = process.argv.slice(2)
const { settings, problem } = readSettings(settingsPath(process.env))
if (problem === undefined || args.length === 0 || args.some((one) => NEEDS_NONE.has(one))) {
  for (const [name, value] of Object.entries(settings)) process.env[name] ??= value
  process.exitCode = await runCommand(args, process.env, process)
} else {
  // With its default instead of a setting, an installation would put the mail of its customers into the sandbox.
  process.stderr.write(`postrider: ${problem}\n`)
  process.exitCode = EXIT_CONFIG
}
