import { account, type DashboardRoute } from '../../frame/routes.ts'
import { messagePage } from './message.ts'
import {
  cancelMessage,
  rescheduleMessage,
  sendAgain,
  suppressRecipient,
  tryMessageNow,
  unsuppressRecipient,
} from './message-actions.ts'
import { messageFile, messageHtml, messageSource } from './message-content.ts'
import { messageList } from './messages.ts'
import { searchSuggestions } from './suggestions.ts'

export const MESSAGES: readonly DashboardRoute[] = [
  account('GET', '/messages', 'events', messageList, { mayBeOld: true }),
  account('GET', '/messages/suggestions', 'events', searchSuggestions),
  account('GET', '/messages/:message', 'events', (call) => messagePage(call)),
  account('GET', '/messages/:message/html', 'content', messageHtml),
  account('GET', '/messages/:message/source', 'content', messageSource),
  account('GET', '/messages/:message/files/:index', 'content', messageFile),
  account('POST', '/messages/:message/try-now', 'send', tryMessageNow),
  account('POST', '/messages/:message/cancel', 'send', cancelMessage),
  account('POST', '/messages/:message/reschedule', 'send', rescheduleMessage),
  account('POST', '/messages/:message/resend', 'resend', sendAgain),
  account('POST', '/messages/:message/suppress', 'suppressions', suppressRecipient),
  account('POST', '/messages/:message/unsuppress', 'suppressions', unsuppressRecipient),
]
