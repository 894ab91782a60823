import { type ErrorRow, row } from './error-row.ts'

/** The errors of users, their links and their log-in: rows of the table in errors.ts. */
export const PEOPLE_ERRORS = {
  linkInvalid: row(
    210,
    'Account',
    400,
    'The link is invalid, has expired or was already used. Request a new one',
    550,
    '5.6.0',
  ),
  codeInvalid: row(213, 'Account', 400, 'The code is invalid or was already used', 550, '5.6.0'),
  reauthenticationNeeded: row(214, 'Account', 403, 'Confirm your password first', 550, '5.7.1'),
  signUpClosed: row(215, 'Account', 403, 'Signing up is not possible here; ask for an invitation', 550, '5.7.1'),
  passkeyInvalid: row(216, 'Account', 400, 'The passkey could not be verified. Try again', 550, '5.6.0'),
  roleChanged: row(
    217,
    'Account',
    403,
    'Your session has ended or your role has changed. Load the page again',
    550,
    '5.7.1',
  ),
  memberUnknown: row(211, 'Account', 400, 'User is not a member of this account', 550, '5.6.0'),
  lastOwner: row(
    212,
    'Account',
    400,
    'The last owner or operator who can log in cannot be removed. Give the role to another user first',
    550,
    '5.6.0',
  ),
} as const satisfies Record<string, ErrorRow>
