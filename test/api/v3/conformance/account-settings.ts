import type { Row } from './rows.ts'

export const ACCOUNT_ROWS: readonly Row[] = [
  {
    id: 'account-settings',
    parameter: 'mail_settings, tracking_settings (account level)',
    treatment: 'honour',
    note: 'open, click, subscription (with its texts) and footer; a disabled footer is not stored. Enabling any other setting: 400.',
  },
]
