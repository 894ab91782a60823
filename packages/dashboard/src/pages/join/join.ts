import { type DashboardRoute, everybody, users } from '../../frame/routes.ts'
import { acceptInvitation, invitationPage, joinAccount } from './invitation.ts'
import { forgottenPage, requestReset, resetPage, resetPassword } from './new-password.ts'
import { signUp, signUpForm, verify, verifyPage } from './sign-up.ts'

/** The ways in besides the log-in: invitation, sign-up, and a forgotten password. */
export const JOIN: readonly DashboardRoute[] = [
  everybody('GET', '/invitation', invitationPage),
  everybody('POST', '/invitation', acceptInvitation),
  users('POST', '/invitation/join', joinAccount),
  everybody('GET', '/sign-up', (call) => signUpForm(call)),
  everybody('POST', '/sign-up', signUp),
  everybody('GET', '/verify', verifyPage),
  everybody('POST', '/verify', verify),
  everybody('GET', '/forgotten', async (call) => forgottenPage(call)),
  everybody('POST', '/forgotten', requestReset),
  everybody('GET', '/reset', resetPage),
  everybody('POST', '/reset', resetPassword),
]
