import type { Machine } from './machine.ts'
import type { Page } from './page.ts'

export interface NotifyingLetter {
  readonly from: string
  readonly to: readonly string[]
  readonly message: string
}

/** By the options that Sendmail has for it, and others after it. */
export const byOptions: NonNullable<MailProgram['notifying']> = ({ from, to, message }) => ({
  args: ['-i', '-N', 'success,failure', '-R', 'full', '-f', from, ...to],
  input: message,
})

/** A mail program of Debian. */
export interface MailProgram {
  readonly name: string
  readonly packages: readonly string[]
  /** Whether it keeps mail that it could not send yet. */
  readonly hasQueue: boolean
  /** What the scripts of its packages would do. */
  readonly prepare?: (machine: Machine) => Promise<unknown>
  /** Whether it makes invalid addresses valid: `"bad..dots"@harbor.example`. */
  readonly quotesRecipients?: true
  /** Whether it returns mail when its login is refused. */
  readonly bouncesAtInvalidKey?: true
  /** Writes its configuration, for the first time or with another key. */
  readonly configure: (machine: Machine, page: Page) => void | Promise<void>
  /** Once, after it was configured. */
  readonly start?: (machine: Machine) => Promise<unknown>
  /** Has it try what is in its queue, whether it is due or not. */
  readonly flush?: (machine: Machine) => Promise<unknown>
  /**
   * Its command `sendmail` and what to write to it, to send from one address to others with NOTIFY=SUCCESS,FAILURE and RET=FULL; undefined: it has no
   * way to ask for notifications.
   */
  readonly notifying?: (letter: NotifyingLetter) => { readonly args: readonly string[]; readonly input: string }
  /** What it says of its queue and its attempts, for whoever reads why a test failed. */
  readonly log: (machine: Machine) => Promise<string>
}
