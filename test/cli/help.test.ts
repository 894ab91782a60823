import { execFileSync, spawnSync } from 'node:child_process'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { COMMANDS } from '../../packages/cli/src/commands/index.ts'
import { parameterText } from '../../packages/cli/src/parameters.ts'
import { parse } from '../../packages/cli/src/parser.ts'
import { readUsage } from '../../packages/cli/src/usage.ts'
import { CLI_PAGE, cliPage } from '../helpers/cli-page.ts'
import { postrider } from './postrider.ts'

t.test('the help of every command has its usage and a description of each option', async (t) => {
  for (const command of COMMANDS) {
    const { code, stdout } = await postrider({}, ...command.name.split(' '), '--help')
    t.equal(code, 0)
    t.match(stdout, new RegExp(`^Usage: postrider ${command.name}\\b`), command.name)
    const options = readUsage(command.usage).options.map(({ name }) => name)
    t.strictSame(
      options.filter((name) => !parameterText(command, name) || !stdout.includes(`  --${name}`)),
      [],
      command.name,
    )
    const unused = Object.keys(command.parameters ?? {}).filter(
      (name) => !options.includes(name) && !readUsage(command.usage).words.includes(name),
    )
    t.strictSame(unused, [], `${command.name} describes only what it has`)
  }
})

t.test('the examples of the help are valid command lines of their commands', async (t) => {
  const out = { write: () => true }
  for (const command of COMMANDS) {
    for (const example of command.examples ?? []) {
      const words = example.split(/ [<>] /)[0]?.match(/"[^"]*"|'[^']*'|\S+/g) ?? []
      t.equal(
        parse(
          COMMANDS,
          words.map((word) => word.replace(/^["']|["']$/g, '')),
          out,
          { hasColours: false },
        )?.command.name,
        command.name,
        example,
      )
    }
  }
})

t.test('--version shows the version, its commit and the number of the last migration', async (t) => {
  const { version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as {
    version: string
  }
  const { code, stdout, stderr } = await postrider({}, '--version', '--json')
  const { commit, schema, ...rest } = JSON.parse(stdout)
  t.strictSame({ code, stderr, ...rest }, { code: 0, stderr: '', version })
  const last = readdirSync(new URL('../../sql/', import.meta.url))
    .filter((name) => /^\d{4}_/.test(name))
    .sort()
    .at(-1)
  t.equal(schema, Number(last?.slice(0, 4)))
  const of = commit === null ? '' : `commit ${commit}, `
  t.strictSame(await postrider({}, '--version'), {
    code: 0,
    stdout: `${version} (${of}schema ${schema})\n`,
    stderr: '',
  })
  const git = spawnSync('git', ['rev-parse', 'HEAD'], { encoding: 'utf8' })
  if (git.status === 0) t.equal(commit, git.stdout.slice(0, 12))
})

t.test('a group has a help of its own, by --help and by help', async (t) => {
  const { stdout } = await postrider({}, 'pool', '--help')
  t.match(
    stdout,
    /^Usage: postrider pool COMMAND\n.*\n {2}add +Create a pool\n.*\n {2}rule +Rules that choose a pool: add, remove/s,
  )
  t.equal((await postrider({}, 'help', 'pool')).stdout, stdout)
  t.match((await postrider({}, 'help', 'pool', 'rule', 'add')).stdout, /^Usage: postrider pool rule add POOL/)
})

t.test('the help of a command that does not exist is refused, as the command is', async (t) => {
  for (const [asked, message] of [
    [['frobnicate', '--help'], 'unknown command "frobnicate"'],
    [['-h', 'frobnicate'], 'unknown command "frobnicate"'],
    [['help', 'frobnicate'], 'unknown command "frobnicate"'],
    [['key', 'revok', '--help'], 'unknown command "revok" (did you mean revoke?)'],
    [['help', 'pool', 'rule', 'frobnicate'], 'unknown command "frobnicate"'],
  ] as const) {
    const { code, stdout, stderr } = await postrider({}, ...asked)
    t.strictSame({ code, stdout }, { code: 2, stdout: '' }, asked.join(' '))
    t.ok(stderr.includes(message), stderr)
  }
  for (const asked of [['--help'], ['key', '--help'], ['key', 'revoke', '7', '--help'], ['queue', 'google', '--help']])
    t.equal((await postrider({}, ...asked)).code, 0, asked.join(' '))
})

t.test('docs/cli.md describes the commands', async (t) => {
  t.equal(readFileSync(CLI_PAGE, 'utf8'), cliPage(), 'run npm run docs')
})

const TYPED = [
  ['acc', 'account'],
  ['account su', 'suspend'],
  ['account create --n', '--name'],
  ['message send --via ', 'v2 v3 smtp'],
  ['pool rule ', 'add remove'],
  ['health relay --j', '--json'],
  ['tls set ship.example v', 'verified'],
  ['--json credits l', 'limited'],
] as const

/** Runs the completion as readline does: with the words of the line and the place of the cursor. */
const COMPLETE = `source "$1"
mapfile -t words < "$2"
for line in "\${words[@]}"; do
  read -ra COMP_WORDS <<< "postrider $line"
  [[ $line == *' ' ]] && COMP_WORDS+=('')
  COMP_CWORD=$((\${#COMP_WORDS[@]} - 1))
  [[ $(complete -p postrider) =~ -F\\ ([a-z_]+) ]] && "\${BASH_REMATCH[1]}"
  echo "\${COMPREPLY[*]}"
done`

t.test('bash completes commands, options and values', async (t) => {
  const folder = t.testdir()
  const [script, lines] = [join(folder, 'script'), join(folder, 'lines')]
  writeFileSync(script, (await postrider({}, 'completion', 'bash')).stdout)
  writeFileSync(lines, `${TYPED.map(([line]) => line).join('\n')}\n`)
  const completed = execFileSync('bash', ['-c', COMPLETE, 'bash', script, lines], { encoding: 'utf8' })
  t.strictSame(
    completed.trimEnd().split('\n'),
    TYPED.map(([, words]) => words),
  )
})

/** The functions of zsh's completion system print what they are given; the system itself chooses what fits the word. */
const ZSH = `compdef() { :; }; _files() { :; }
_describe() { print -r -- \${\${(P)2}%%:*}; }; compadd() { print -r -- \${(P)2}; }
source $1
while IFS= read -r line; do
  words=(postrider \${(s: :)line}); [[ $line == *' ' ]] && words+=('')
  CURRENT=$#words
  _postrider
done < $2`

const FISH = `source $argv[1]
while read -l line
  echo (complete -C "postrider $line" | string split -f1 \\t)
end < $argv[2]`

const OTHERS = {
  zsh: (script: string, lines: string) => ['-f', '-c', ZSH, 'zsh', script, lines],
  fish: (script: string, lines: string) => ['--no-config', '-c', FISH, script, lines],
} as const

for (const [shell, argumentsOf] of Object.entries(OTHERS)) {
  t.test(`${shell} completes commands, options and values`, { skip: isMissing(shell) }, async (t) => {
    const folder = t.testdir()
    const [script, lines] = [join(folder, 'script'), join(folder, 'lines')]
    writeFileSync(script, (await postrider({}, 'completion', shell)).stdout)
    writeFileSync(lines, `${TYPED.map(([line]) => line).join('\n')}\n`)
    const { stdout, stderr } = spawnSync(shell, argumentsOf(script, lines), {
      encoding: 'utf8',
      env: { PATH: process.env.PATH, HOME: folder },
    })
    t.equal(stderr, '')
    for (const [at, [line, expected]] of TYPED.entries()) {
      const words = stdout.split('\n')[at]?.split(' ') ?? []
      t.strictSame(
        expected.split(' ').filter((word) => !words.includes(word)),
        [],
        `${line}: ${words.join(' ')}`,
      )
    }
  })
}

t.test('another shell is refused by its name', async (t) => {
  const { code, stderr } = await postrider({}, 'completion', 'tcsh')
  t.equal(code, 2)
  t.match(stderr, /unknown shell "tcsh"; must be one of bash, zsh, fish\nusage: postrider completion bash\|zsh\|fish/)
})

function isMissing(shell: string): string | false {
  try {
    execFileSync('sh', ['-c', `command -v ${shell}`])
    return false
  } catch {
    return `${shell} is not installed`
  }
}
