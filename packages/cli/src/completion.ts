import type { Command } from './command.ts'
import { parameterText } from './parameters.ts'
import { TOPICS } from './topics.ts'
import { choicesOf, readUsage } from './usage.ts'

/** Shells that have completion. */
export const SHELLS = ['bash', 'zsh', 'fish'] as const
export type Shell = (typeof SHELLS)[number]

/** A word that can follow. */
interface Candidate {
  readonly word: string
  readonly about: string
}

/** The words that can follow a command or group. */
interface Place {
  /** "account create"; empty for `postrider` itself. */
  readonly path: string
  /** Commands, and the values of arguments. */
  readonly words: readonly Candidate[]
  readonly options: readonly (Candidate & { readonly hasValue: boolean; readonly values: readonly string[] })[]
}

const COMMON = [
  { word: '--json', about: 'Print JSON', hasValue: false, values: [] },
  { word: '--help', about: 'Show the help', hasValue: false, values: [] },
]

/** Returns the script that completes `postrider` in a shell. It is made from the table of commands and calls nothing. */
export function completionScript(shell: Shell, commands: readonly Command[]): string {
  return SCRIPTS[shell](placesOf(commands))
}

const SCRIPTS: Readonly<Record<Shell, (places: readonly Place[]) => string>> = { bash, zsh, fish }

function placesOf(commands: readonly Command[]): Place[] {
  const paths = new Set(
    commands.flatMap(({ name }) =>
      name
        .split(' ')
        .map((_word, at, all) => all.slice(0, at).join(' '))
        .concat(name),
    ),
  )
  return [...paths].sort().map((path) => {
    const command = commands.find(({ name }) => name === path)
    const { words, options } = readUsage(command?.usage ?? '')
    const choices = words.flatMap((word) => choicesOf(word).map((choice) => ({ word: choice, about: '' })))
    return {
      path,
      words: [...[...paths].filter((one) => parentOf(one) === path && one !== '').map(toCandidate), ...choices],
      options: [
        ...options.map(({ name, value }) => ({
          word: `--${name}`,
          about: (command && parameterText(command, name)) ?? '',
          hasValue: value !== undefined,
          values: choicesOf(value ?? ''),
        })),
        ...COMMON,
      ],
    }
  })

  function toCandidate(path: string): Candidate {
    const about = TOPICS[path]?.about ?? commands.find(({ name }) => name === path)?.summary ?? ''
    return { word: path.split(' ').at(-1) as string, about }
  }
}

function parentOf(path: string): string {
  return path.split(' ').slice(0, -1).join(' ')
}

/** A text in single quotes for bash and zsh. */
function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`
}

const joined = (candidates: readonly Candidate[]): string => candidates.map(({ word }) => word).join(' ')

function valueCases(places: readonly Place[], toLine: (values: readonly string[]) => string): string[] {
  return places.flatMap(({ path, options }) =>
    options
      .filter(({ hasValue }) => hasValue)
      .map(({ word, values }) => `    ${quoted(`${path} ${word}`)}) ${toLine(values)} ;;`),
  )
}

/** Without descriptions, which bash does not show. For the value of an option without fixed values, it completes file names. */
function bash(places: readonly Place[]): string {
  return `# Completion of postrider for bash: source <(postrider completion bash)
_postrider_place() {
  case "$1" in
${places.map(({ path, words, options }) => `    ${quoted(path)}) words=${quoted(joined(words))} options=${quoted(joined(options))} ;;`).join('\n')}
    *) return 1 ;;
  esac
}
_postrider_values() {
  case "$1" in
${valueCases(places, (values) => `values=${quoted(values.join(' '))}`).join('\n')}
    *) return 1 ;;
  esac
}
_postrider() {
  local current=\${COMP_WORDS[COMP_CWORD]} previous=\${COMP_WORDS[COMP_CWORD - 1]} path='' words options values word at
  _postrider_place ''
  for ((at = 1; at < COMP_CWORD; at++)); do
    word=\${COMP_WORDS[at]}
    if _postrider_place "\${path:+$path }$word"; then path=\${path:+$path }$word; fi
  done
  if _postrider_values "$path $previous"; then
    COMPREPLY=($(compgen -W "$values" -- "$current"))
  elif [[ $current == -* ]]; then
    COMPREPLY=($(compgen -W "$options" -- "$current"))
  else
    COMPREPLY=($(compgen -W "$words" -- "$current"))
  fi
}
complete -o default -F _postrider postrider
`
}

function zsh(places: readonly Place[]): string {
  const described = (candidates: readonly Candidate[]) =>
    candidates.map(({ word, about }) => quoted(`${word}:${about.replaceAll(':', '\\:')}`)).join(' ')
  return `#compdef postrider
# Completion of postrider for zsh: source <(postrider completion zsh), after compinit
_postrider_place() {
  case "$1" in
${places.map(({ path, words, options }) => `    ${quoted(path)}) names=(${described(words)}) flags=(${described(options)}) ;;`).join('\n')}
    *) return 1 ;;
  esac
}
_postrider_values() {
  case "$1" in
${valueCases(places, (values) => `values=(${values.join(' ')})`).join('\n')}
    *) return 1 ;;
  esac
}
_postrider() {
  local -a names flags values
  local place='' word
  _postrider_place ''
  for word in \${words[2,CURRENT-1]}; do
    if _postrider_place "\${place:+$place }$word"; then place=\${place:+$place }$word; fi
  done
  if _postrider_values "$place \${words[CURRENT-1]}"; then
    if (( $#values )); then compadd -a values; else _files; fi
  elif [[ \${words[CURRENT]} == -* ]]; then
    _describe 'option' flags
  elif (( $#names )); then
    _describe 'command' names
  else
    _files
  fi
}
compdef _postrider postrider
`
}

function fish(places: readonly Place[]): string {
  const text = (about: string) => `'${about.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`
  const lines = places.flatMap(({ path, words, options }) => {
    const when = `complete -c postrider -n ${text(`__postrider_at ${text(path)}`)}`
    return [
      ...words.map(({ word, about }) => `${when} -f -a ${word} -d ${text(about)}`),
      ...options.map(({ word, about, hasValue, values }) => {
        const value = hasValue ? (values.length > 0 ? ` -x -a ${text(values.join(' '))}` : ' -r') : ''
        return `${when} -l ${word.slice(2)}${value} -d ${text(about)}`
      }),
    ]
  })
  return `# Completion of postrider for fish: postrider completion fish | source
set -g __postrider_paths ${places
    .filter(({ path }) => path !== '')
    .map(({ path }) => text(path))
    .join(' ')}
function __postrider_at
  set -l place
  for word in (commandline -opc)[2..-1]
    set -l next (string join -- ' ' $place $word)
    contains -- $next $__postrider_paths; and set place $next
  end
  test "$place" = "$argv[1]"
end
${lines.join('\n')}
`
}
