import { type ErrorName, ServiceError } from '@postrider/core'

/** The name of the refusal an act ends with; undefined when it is not refused. A fault goes on. */
export async function refused(act: Promise<unknown>): Promise<ErrorName | undefined> {
  try {
    await act
    return undefined
  } catch (error) {
    if (error instanceof ServiceError) return error.errorName
    throw error
  }
}
