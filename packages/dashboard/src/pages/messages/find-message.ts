import { type MessageDetails, ServiceError } from '@postrider/core'
import type { AccountCall } from '../../frame/call.ts'

/** Returns the message of the path, if it is of the account of the path. Throws messageNotFound. */
export async function requireMessage(
  { core, account, params }: AccountCall,
  page: { readonly fromRecipient: number },
): Promise<MessageDetails> {
  const details = await core.messages.show(params.message as string, { accountId: account.id, page })
  if (!details) throw new ServiceError('messageNotFound')
  return details
}
