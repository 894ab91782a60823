import { CommandError } from '../../command.ts'

/** The error for an unknown message id. */
export function messageNotFound(id: string): CommandError {
  return new CommandError(
    `message "${id}" not found; the id is in the response of sendEmail or in the reply of the relay`,
  )
}
