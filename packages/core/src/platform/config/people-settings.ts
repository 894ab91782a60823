import type { Setting } from './setting.ts'

/** The settings of users and their log-in: rows of the list in settings.ts. */
export const PEOPLE_SETTINGS: readonly Setting[] = [
  {
    name: 'SIGN_UP',
    default: 'invite',
    meaning:
      'Who can become a user of the dashboard: open (anyone with an email address), invite (those whom members invite) or closed ' +
      '(those whom the operator adds with "postrider user add"). Mail with links needs SERVICE_DOMAIN.',
  },
  {
    name: 'REQUIRE_2FA',
    default: '0',
    meaning:
      '1: users who log in to the dashboard by password must set up a passkey or one-time codes before they can do anything else.',
  },
  {
    name: 'OIDC_ISSUER',
    default: '',
    meaning:
      'URL of an OpenID Connect provider through which users can log in to the dashboard. Its redirect URI is PUBLIC_URL/app/oidc. See docs/people.md.',
  },
  { name: 'OIDC_CLIENT_ID', default: '', meaning: 'Client id of this installation at OIDC_ISSUER.' },
  {
    name: 'OIDC_CLIENT_SECRET',
    isSecret: true,
    default: '',
    meaning: 'Client secret at OIDC_ISSUER; empty for a public client.',
  },
  {
    name: 'OIDC_ROLE_CLAIM',
    default: '',
    meaning:
      'Claim of the ID token with the roles of a user, which replace those set here at each log-in: operator, owner, developer, ' +
      'support or viewer (of the oldest account), or with an account, owner:12. If empty, users are invited as usual.',
  },
  {
    name: 'OIDC_ONLY',
    default: '0',
    meaning: '1: users can log in only through OIDC_ISSUER, and by links that "postrider user link" prints.',
  },
]
