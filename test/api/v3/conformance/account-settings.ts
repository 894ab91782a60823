import type { Row } from './rows.ts'

export const ACCOUNT_ROWS: readonly Row[] = [
  {
    id: 'account-settings',
    parameter: 'mail_settings, tracking_settings (account level)',
    treatment: 'honour',
    note: 'open, click, subscription, footer; a footer that is off is not kept. The others are off: enabling one is 400.',
  },
]
