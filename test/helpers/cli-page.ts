import { writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { Command } from '../../packages/cli/src/command.ts'
import { COMMANDS } from '../../packages/cli/src/commands/index.ts'
import { parameterText } from '../../packages/cli/src/parameters.ts'
import { TOPICS } from '../../packages/cli/src/topics.ts'
import { readUsage } from '../../packages/cli/src/usage.ts'

/** Path of docs/cli.md. */
export const CLI_PAGE = fileURLToPath(new URL('../../docs/cli.md', import.meta.url))

const INTRODUCTION = `# Command line

This page is generated from the table of commands in packages/cli/src/commands by \`npm run docs\`. Edit the table, not the page.

In the source tree a command is run with \`npm run -s postrider -- COMMAND\`. Commands work on the database (\`DATABASE_URL\`, or the embedded one
in \`DATA_DIR\`), so they need the settings of the service. \`postrider COMMAND --help\` shows what this page says about a command.

- With \`--json\`, the output is one line of JSON, and so is an error, on stderr: \`{"error": "…"}\`.
- The exit status is 0 if the command succeeded, 1 if it was rejected or failed, 2 if the command line is invalid, 75 if it must be tried again,
  and 78 if a setting is invalid.
- Times are ISO 8601; without a zone they are UTC, as all times that are shown are.
- Tables fit the width of the terminal; long cells are shortened there, but not in a file, in a pipe or with \`--json\`. Colours are used only on
  terminals, and never if \`NO_COLOR\` is set. Long work shows its progress on stderr if that is a terminal.
- What no other command brings back is asked about on a terminal, and needs \`--yes\` elsewhere; or the command prints a plan, which
  \`--confirm\` executes.
- Lists that have pages have \`--limit\`, and \`--after\` for the next page.

For completion of commands, options and values, an alias gives the command its name:

    alias postrider='npm run -s --prefix /path/to/postrider postrider --'
    source <(postrider completion bash)     # or zsh, after compinit
    postrider completion fish | source
`

/** Returns the page. */
export function cliPage(): string {
  const topics = Object.keys(TOPICS)
  const commands = COMMANDS.toSorted((a, b) => topics.indexOf(firstWord(a)) - topics.indexOf(firstWord(b)))
  const sections = Object.entries(Object.groupBy(commands, (command) => TOPICS[firstWord(command)]?.heading ?? ''))
  const pages = sections.map(([heading, list = []]) => `## ${heading.slice(0, -1)}\n\n${list.map(section).join('\n')}`)
  return `${INTRODUCTION}\n${pages.join('\n')}`
}

function firstWord({ name }: Command): string {
  return name.split(' ')[0] as string
}

function section(command: Command): string {
  const { name, usage, summary, detail, examples = [] } = command
  const rows = readUsage(usage).options.map(
    ({ name, value }) =>
      `| \`--${name}${value === undefined ? '' : ` ${cell(value)}`}\` | ${cell(parameterText(command, name) ?? '')} |`,
  )
  return [
    `### ${name}\n`,
    wrapped(`    postrider ${name} ${usage}`.trimEnd(), '      ', /(?<=[\])A-Z.]) (?=[-[(])/),
    '',
    `${wrapped(`${summary}.${detail === undefined ? '' : ` ${detail}.`}`, '', / /)}\n`,
    ...(rows.length > 0 ? ['| option | meaning |', '|---|---|', ...rows, ''] : []),
    ...(examples.length > 0 ? ['Examples:\n', ...examples.map((one) => `    postrider ${one}`), ''] : []),
  ].join('\n')
}

/** Lines of at most 160 characters, broken at `between`; all but the first are indented. */
function wrapped(text: string, indent: string, between: RegExp): string {
  const lines: string[] = []
  for (const piece of text.split(between)) {
    const longer = lines.length === 0 ? piece : `${lines.at(-1)} ${piece}`
    if (lines.length > 0 && longer.length > 160) lines.push(`${indent}${piece}`)
    else lines.splice(-1, 1, longer)
  }
  return lines.join('\n')
}

/** A bar would end the cell. */
function cell(text: string): string {
  return text.replaceAll('|', '\\|')
}

if (import.meta.main) writeFileSync(CLI_PAGE, cliPage())
