import { createInterface, type Interface } from 'node:readline/promises'
import { type Call, type Command, CommandError, UsageError } from '../command.ts'

/** Whether the command, as it is called, asks first. Throws {@link UsageError} if it cannot: a program that calls it says --yes. */
export function asksConsent(call: Call, { destroys }: Omit<Command, 'run'>): boolean {
  if (destroys === undefined || (destroys !== true && !destroys(call)) || call.options.yes) return false
  requireTerminal()
  return true
}

/** Asks before a command that destroys something does. */
export async function requireConsent(call: Call, { name, summary }: Omit<Command, 'run'>): Promise<void> {
  const asked = [name, ...call.words].join(' ')
  await requireYes(
    call,
    `${asked}: ${summary.charAt(0).toLowerCase()}${summary.slice(1)}. It cannot be undone. Continue?`,
  )
}

/** The usage line of a command with the option by which it does not ask. */
export function withYes(usage: string): string {
  return `${usage} [--yes]`.trimStart()
}

/**
 * Asks on a terminal. Throws {@link UsageError} if there is none and --yes is not given, {@link CommandError} if the answer is not yes. `kept` says that
 * nothing was done.
 */
export async function requireYes(call: Call, question: string, kept = 'nothing was changed'): Promise<void> {
  if (call.options.yes) return
  requireTerminal()
  const terminal = createInterface({ input: process.stdin, output: process.stderr })
  const answer = await answerTo(terminal, `${question} [y/N] `).finally(() => terminal.close())
  if (!/^y(es)?$/i.test(answer.trim())) throw new CommandError(`cancelled; ${kept}`)
}

function requireTerminal(): void {
  if (!process.stdin.isTTY)
    throw new UsageError('missing option --yes: stdin is not a terminal, so the command cannot ask')
}

/** Empty if there is none: at the end of the input, of which readline tells no question, or at Ctrl-C. */
async function answerTo(terminal: Interface, question: string): Promise<string> {
  const ended = new Promise<undefined>((resolve) => terminal.once('close', () => resolve(undefined)))
  const answer = await Promise.race([terminal.question(question).catch(() => undefined), ended])
  if (answer === undefined) process.stderr.write('\n')
  return answer ?? ''
}
