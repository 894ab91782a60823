import { errorsOf } from './error-row.ts'

/** The rows of exports, webhooks and people, which the table in error-table.ts has among its own. */
export const RARER_ERRORS = {
  ...errorsOf('Export', {
    exportDateInvalid: { v2: 1104, sentence: 'Start date and end date must be in yyyy-mm-dd format' },
    exportDatesReversed: { v2: 1105, sentence: 'Start date must not be after end date' },
    exportTargetMissing: { v2: 1106, sentence: 'callbackUrl or email is required' },
    exportEmailInvalid: { v2: 1107, sentence: 'Invalid email address' },
    exportNotCreated: { v2: 1109, sentence: 'Export could not be created: {problem}' },
    exportUnreachable: { v2: 1111, sentence: 'Callback URL is not reachable: {problem}' },
    exportUnknown: { v2: 1112, sentence: 'Invalid jobId' },
    exportNotQueued: { v2: 1113, sentence: 'Export cannot be deleted: it is not queued' },
  }),
  ...errorsOf('Webhook', {
    webhookUrlInvalid: { v2: 200, sentence: 'Invalid url: {problem}' },
    webhookEventInvalid: { v2: 201, sentence: 'Invalid event: {event}. The events are: {names}' },
    webhookUnknown: { v2: 202, sentence: 'Invalid webhook id' },
    webhookUnanswered: { v2: 203, sentence: 'URL check failed: {problem}. With enabled 0 there is no check' },
    webhooksTooMany: { v2: 204, sentence: 'Webhook limit reached: an account can have at most {limit} webhooks' },
    webhookFailureUnknown: { v2: 205, sentence: 'Invalid failure id' },
    webhookReplayInvalid: { v2: 206, sentence: 'No event with this number in the last {days} days' },
  }),
  ...errorsOf('Account', {
    linkInvalid: { v2: 210, sentence: 'The link is invalid, has expired or was already used. Request a new one' },
    codeInvalid: { v2: 213, sentence: 'The code is invalid or was already used' },
    reauthenticationNeeded: { v2: 214, status: 403, sentence: 'Confirm your password first', smtp: '550 5.7.1' },
    signUpClosed: {
      v2: 215,
      status: 403,
      sentence: 'Signing up is not possible here; ask for an invitation',
      smtp: '550 5.7.1',
    },
    passkeyInvalid: { v2: 216, sentence: 'The passkey could not be verified. Try again' },
    roleChanged: {
      v2: 217,
      status: 403,
      sentence: 'Your session has ended or your role has changed. Load the page again',
      smtp: '550 5.7.1',
    },
    memberUnknown: { v2: 211, sentence: 'User is not a member of this account' },
    lastOwner: {
      v2: 212,
      sentence: 'The last owner or operator who can log in cannot be removed. Give the role to another user first',
    },
  }),
} as const
