import { type Command, requiredWord, UsageError } from '../../command.ts'
import { completionScript, SHELLS } from '../../completion.ts'

export const completionCommands: readonly Command[] = [
  {
    name: 'completion',
    usage: 'bash|zsh|fish',
    summary: 'Print the script that completes commands and options in a shell',
    examples: ['completion bash > ~/.local/share/bash-completion/completions/postrider'],
    async run(call) {
      const word = requiredWord(call, 'shell')
      const shell = SHELLS.find((one) => one === word)
      if (!shell) throw new UsageError(`unknown shell "${word}"; must be one of ${SHELLS.join(', ')}`)
      const script = completionScript(shell, call.commands)
      return { data: { shell, script }, text: script }
    },
  },
]
