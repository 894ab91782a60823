import type { Setting } from './setting.ts'

/** Settings by which the service is known to others: names, addresses, signatures; a part of SETTINGS. */
export const IDENTITY_SETTINGS: readonly Setting[] = [
  {
    name: 'HELO_NAME',
    default: '(host name)',
    meaning: 'Host name the service uses in SMTP (EHLO); its forward and reverse DNS records should match.',
  },
  {
    name: 'RECEIVED_CLIENT',
    default: 'hide',
    meaning:
      'Whether the field Received that the service adds to mail submitted over SMTP names the client, its host name and IP address: ' +
      'hide or show. Every recipient can read it. GET /v2/messages/ID has the address in either case.',
  },
  {
    name: 'RETURN_PATH_HOST',
    default: '(HELO_NAME)',
    meaning: 'Host of the return path for sending domains without a custom return path.',
  },
  {
    name: 'FEEDBACK_SENDER_ID',
    default: '(derived from SECRET_KEY)',
    meaning:
      'Name of this installation in the header field Feedback-ID, by which Gmail counts complaints; 5 to 15 letters and digits.',
  },
  {
    name: 'OPERATOR_MAIL',
    default: '',
    meaning:
      'Email address of the operator, to which letters to abuse@ and postmaster@ are passed on. Requires SERVICE_DOMAIN. If empty, ' +
      'they are only kept ("postrider returns list --kind letter").',
  },
  {
    name: 'SERVICE_DOMAIN',
    default: '',
    meaning:
      'Active sending domain of an account, from which the service sends its own mail as noreply@: letters and notices to the ' +
      'operator, notices to the owners of accounts, TLS reports to domains that ask for them, and the links of the dashboard. If ' +
      'empty, it sends none; with "postrider up" and DELIVERY=sandbox, demo.example.',
  },
  {
    name: 'OPERATOR_DKIM_DOMAIN',
    default: '',
    meaning:
      'Domain of the operator that signs all mail with DKIM in addition to the sending domain, so that one enrolment in a feedback ' +
      'loop covers all accounts. Without OPERATOR_DKIM_KEY it must be an active sending domain of an account, whose key signs. ' +
      "If empty, there is only the sending domain's signature.",
  },
  {
    name: 'OPERATOR_DKIM_SELECTOR',
    default: '',
    meaning: 'Selector of OPERATOR_DKIM_KEY in the DNS. "postrider dns" shows the record.',
  },
  {
    name: 'OPERATOR_DKIM_KEY',
    default: '',
    meaning: 'File with the RSA key of OPERATOR_DKIM_DOMAIN (PEM, at least 1024 bits). Every delivery worker needs it.',
  },
]
