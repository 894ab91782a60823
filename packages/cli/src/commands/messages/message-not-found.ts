import type { Core, MessageDetails } from '@postrider/core'
import { CommandError } from '../../command.ts'

/** The error for an unknown message id. */
export function messageNotFound(id: string): CommandError {
  return new CommandError(
    `message "${id}" not found; the id is in the response of sendEmail or in the reply of the relay`,
  )
}

/** Throws {@link CommandError}. */
export async function requireMessage({ messages }: Core, id: string): Promise<MessageDetails> {
  const details = await messages.show(id)
  if (!details) throw messageNotFound(id)
  return details
}
